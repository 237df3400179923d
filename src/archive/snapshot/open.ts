/** Verifies and opens snapshots. In: a file from an untrusted source. Out: its resources, in order. */
import { hash } from "node:crypto";
import { open } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import type { SnapshotResource, SnapshotSource } from "../../mirror/snapshots/snapshot-resource.ts";
import { toReadingError } from "../container/open.ts";
import { parseRows } from "../container/row-parts.ts";
import { byteReader, readEntries, ZipError } from "../container/zip-reader.ts";
import { blockOf } from "../contents/entry-names.ts";
import { BackupError } from "../errors.ts";
import {
  isPublishedName,
  keyOfSnapshot,
  type PublishedSnapshot,
  type PublishedState,
  readState,
} from "../published/state.ts";
import {
  checkSignature,
  readSignatureFile,
  type Signature,
  signatureFileOf,
} from "../signatures/signature.ts";
import { type ArchiveReport, type VerifyRequest, verifyArchive } from "../verify.ts";
import { type SnapshotVisitor, snapshotType } from "./check-snapshot.ts";
import type { SnapshotManifest } from "./manifest.ts";
import { type ResourceLine, startOfDay, toResource } from "./resource-lines.ts";

export interface VerifySnapshotRequest extends Omit<VerifyRequest, "askPassphrase"> {
  /** The fingerprint of the key that must have signed it. */
  readonly key?: string;
  /** What a published folder says of it. Default: what its folder or the file beside it says. */
  readonly published?: PublishedAs;
}

/** Of a snapshot in a published folder. */
export interface PublishedAs {
  /** Its number, from 1. */
  readonly sequence: number;
  readonly signature: Signature | null;
  /** The key that must have signed it, for one that is trusted. Default: the same. */
  readonly keyFor?: (trusted: string) => string;
}

export interface SnapshotReport extends ArchiveReport<SnapshotManifest> {
  /** The fingerprint of the key that signed it; null if it is not signed. */
  readonly signedBy: string | null;
  /** Its number in a published folder; null outside of one. */
  readonly sequence: number | null;
}

/**
 * Reads all of a snapshot and writes nothing. Damage is no error: it is in the report's `problems`.
 * @throws BackupError `other-version`, `other-contents`, `not-found`, `unreadable`
 */
export async function verifySnapshot(
  request: VerifySnapshotRequest,
  visitor: SnapshotVisitor = {},
): Promise<SnapshotReport> {
  return withSignature(request, await verifyContents(request, visitor));
}

/** As `verifySnapshot`, whatever its signature. */
export async function verifyContents(
  request: Omit<VerifyRequest, "askPassphrase">,
  visitor: SnapshotVisitor = {},
): Promise<ArchiveReport<SnapshotManifest>> {
  try {
    return await verifyArchive(request, snapshotType, visitor);
  } catch (error) {
    if (!(error instanceof BackupError) || error.code !== "needs-passphrase") throw error;
    throw new BackupError(
      "other-contents",
      `The file is encrypted, as only a backup can be: ${request.file}`,
      "Nothing was read from it. Restore a backup with `armoire backup restore FILE`.",
      { cause: error },
    );
  }
}

/** What the state of a folder says of a snapshot in it. */
export const asPublished = (
  state: PublishedState,
  { sequence, signature }: PublishedSnapshot,
): PublishedAs => ({
  ...{ sequence, signature },
  keyFor: (trusted) => keyOfSnapshot(state, sequence, trusted),
});

/** Of a file in a published folder; null for any other. */
function publishedAs(file: string, rootHash: string): PublishedAs | null {
  if (!isPublishedName(basename(file))) return null;
  const state = readState(dirname(resolve(file)));
  const found = state?.snapshots.find((one) => one.rootHash === rootHash);
  return state === null || found === undefined ? null : asPublished(state, found);
}

function withSignature(
  { file, key, published }: VerifySnapshotRequest,
  report: ArchiveReport<SnapshotManifest>,
): SnapshotReport {
  const { manifest, rootHash, problems } = report;
  if (manifest === null || rootHash === null || problems.length > 0)
    return { ...report, signedBy: null, sequence: null };
  const {
    sequence,
    signature,
    keyFor = (trusted: string) => trusted,
  } = published ??
    publishedAs(file, rootHash) ?? { sequence: null, signature: readSignatureFile(file), keyFor: undefined };
  const statement = { baseUrl: manifest.service.baseUrl, sequence, rootHash };
  const { signedBy, problem } =
    signature === "damaged"
      ? { signedBy: null, problem: `the file of its signature is damaged: ${signatureFileOf(file)}` }
      : checkSignature(statement, signature, key && keyFor(key));
  return {
    ...report,
    signedBy,
    sequence,
    problems: problem === null ? [] : [{ entry: null, message: problem }],
  };
}

export interface OpenSnapshot extends SnapshotSource {
  readonly manifest: SnapshotManifest;
  /** The size of the file. */
  readonly bytes: number;
  /** What is known of each resource beside its body. */
  readonly lines: () => AsyncIterable<ResourceLine>;
}

/** Where an entry is in the file, and what it must be. */
interface Place {
  readonly offset: number;
  readonly sha256: string;
}

/**
 * Verifies a whole snapshot, so that its resources can be read.
 * @throws BackupError as `verifySnapshot`; `damaged`, also for another root hash, and on reading if the file has changed
 */
export async function openSnapshot(
  file: string,
  expected: Omit<VerifySnapshotRequest, "file"> = {},
): Promise<OpenSnapshot> {
  const indexes: Place[] = [];
  const blocks: Place[] = [];
  /** Where the entry after each block begins. */
  const starts: number[] = [];
  const report = await verifySnapshot(
    { file, ...expected },
    {
      entry({ name, offset, sha256 }) {
        starts.push(offset);
        const block = blockOf(name);
        if (block !== null) (block.isIndex ? indexes : blocks).push({ offset, sha256 });
      },
    },
  );
  const { manifest, rootHash, bytes, signedBy, sequence } = requireSound(report);
  const endOf = ({ offset }: Place) => starts.find((start) => start > offset) ?? bytes;
  const read = (place: Place) => readPlace(file, place, endOf(place));
  const { service, takenOn, seenBy, continues, coverage } = manifest;
  const present = coverage.filter(({ held, gone }) => held + gone > 0);
  // Its shape was checked before.
  const linesOf = async (index: Place) => parseRows(await read(index)) as unknown as Iterable<ResourceLine>;
  return {
    ...{ manifest, bytes },
    description: {
      ...{
        rootHash,
        baseUrl: service.baseUrl,
        serviceName: service.name,
        takenOn: startOfDay(takenOn),
        seenBy,
      },
      ...{ source: basename(file), signedBy, sequence },
      ...(continues !== undefined && { continues }),
    },
    contents: {
      count: present.reduce((sum, { held, gone }) => sum + held + gone, 0),
      kinds: new Set(present.map(({ kind }) => kind)),
    },
    async *lines() {
      for (const index of indexes) yield* await linesOf(index);
    },
    async *resources(): AsyncGenerator<SnapshotResource> {
      for (const [n, index] of indexes.entries()) {
        let content: Promise<Buffer> | null = null;
        const block = blocks[n];
        if (block === undefined) throw changed(file);
        for (const line of await linesOf(index)) {
          yield toResource(line, async () => {
            content ??= read(block);
            // A copy, so that a body that is kept does not keep its block.
            return Buffer.from((await content).subarray(line.offset, line.offset + line.length));
          });
        }
      }
    },
  };
}

interface SoundSnapshot {
  readonly manifest: SnapshotManifest;
  readonly rootHash: string;
  readonly bytes: number;
  readonly signedBy: string | null;
  readonly sequence: number | null;
}

/** @throws BackupError `damaged` */
function requireSound({
  file,
  manifest,
  rootHash,
  bytes,
  signedBy,
  sequence,
  problems: [problem],
}: SnapshotReport): SoundSnapshot {
  if (problem === undefined && manifest !== null && rootHash !== null)
    return { manifest, rootHash, bytes, signedBy, sequence };
  const { entry, message } = problem ?? { entry: null, message: "it is incomplete" };
  throw new BackupError(
    "damaged",
    `The snapshot is damaged or forged: ${file}: ${entry === null ? message : `${entry}: ${message}`}`,
    "Take another copy. `armoire snapshot verify FILE` lists all damage.",
  );
}

async function readPlace(file: string, { offset, sha256 }: Place, end: number): Promise<Buffer> {
  const bytes = await readBytes(file, offset, end - offset);
  const first = await readEntries(byteReader([bytes]))
    .next()
    .catch((error: unknown) => {
      throw error instanceof ZipError ? changed(file) : error;
    });
  if (first.done || hash("sha256", first.value.content) !== sha256) throw changed(file);
  return first.value.content;
}

async function readBytes(file: string, position: number, length: number): Promise<Buffer> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(length), position });
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw toReadingError(error, file);
  }
}

const changed = (file: string) =>
  new BackupError(
    "damaged",
    `The snapshot changed while it was read: ${file}`,
    "Try again with a copy of it.",
  );
