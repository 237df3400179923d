/** Verifies and opens snapshots. In: a file from an untrusted source. Out: its resources, in order. */
import { hash } from "node:crypto";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import type { SnapshotResource, SnapshotSource } from "../../mirror/snapshots/snapshot-resource.ts";
import { toReadingError } from "../container/open.ts";
import { parseRows } from "../container/row-parts.ts";
import { byteReader, readEntries, ZipError } from "../container/zip-reader.ts";
import { blockOf } from "../contents/entry-names.ts";
import { BackupError } from "../errors.ts";
import { type ArchiveReport, type VerifyRequest, verifyArchive } from "../verify.ts";
import { type SnapshotVisitor, snapshotType } from "./check-snapshot.ts";
import type { SnapshotManifest } from "./manifest.ts";
import { type ResourceLine, startOfDay, toResource } from "./resource-lines.ts";

export type VerifySnapshotRequest = Omit<VerifyRequest, "askPassphrase">;
export type SnapshotReport = ArchiveReport<SnapshotManifest>;

/**
 * Reads all of a snapshot and writes nothing.
 * @throws BackupError `other-version`, `other-contents`, `not-found`, `unreadable`
 */
export async function verifySnapshot(
  request: VerifySnapshotRequest,
  visitor: SnapshotVisitor = {},
): Promise<SnapshotReport> {
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

export interface OpenSnapshot extends SnapshotSource {
  readonly manifest: SnapshotManifest;
  readonly bytes: number;
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
  expected: { readonly rootHash?: string } = {},
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
  const { manifest, rootHash, bytes } = requireSound(report);
  const endOf = ({ offset }: Place) => starts.find((start) => start > offset) ?? bytes;
  const read = (place: Place) => readPlace(file, place, endOf(place));
  const { service, takenOn, seenBy } = manifest;
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
      ...{ source: basename(file), signedBy: null, sequence: null },
    },
    async *resources(): AsyncGenerator<SnapshotResource> {
      for (const [n, index] of indexes.entries()) {
        let content: Promise<Buffer> | null = null;
        const block = blocks[n];
        if (block === undefined) throw changed(file);
        for (const row of parseRows(await read(index))) {
          // Its shape was checked before.
          const line = row as unknown as ResourceLine;
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
}

/** @throws BackupError `damaged` */
function requireSound({
  file,
  manifest,
  rootHash,
  bytes,
  problems: [problem],
}: SnapshotReport): SoundSnapshot {
  if (problem === undefined && manifest !== null && rootHash !== null) return { manifest, rootHash, bytes };
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
