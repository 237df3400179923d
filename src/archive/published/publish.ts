/**
 * Publishes the state of a catalogue's mirror in a folder that any static server can hold: a whole snapshot, or an increment
 * with what has changed since. `state.json` is written last, so followers never see a part. Nothing is published if nothing
 * has changed. After a kill, the next call goes on.
 */
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type MirrorReader, readMirror } from "../../mirror/reader.ts";
import { type Coverage, readCoverage } from "../../mirror/runs/coverage.ts";
import { requireWholeNumbers, toFileError } from "../../platform/errors.ts";
import type { ReadFreeBytes } from "../../platform/files/free-space.ts";
import { requireNotOwnFolder } from "../../platform/files/replaceable-files.ts";
import { inNewFolders, removeFile, syncFolder } from "../../platform/folders.ts";
import { takeLock } from "../../platform/process-lock.ts";
import { requireFolder } from "../destination.ts";
import { BackupError } from "../errors.ts";
import { signStatement } from "../signatures/signature.ts";
import { fingerprintOf, type SigningKey } from "../signatures/signing-key.ts";
import { type Succession, signSuccession } from "../signatures/successor.ts";
import { isSameContent } from "../snapshot/create.ts";
import { readSnapshotContents, type SnapshotPublication } from "../snapshot/entries.ts";
import type { SnapshotCoverage } from "../snapshot/manifest.ts";
import { openSnapshot } from "../snapshot/open.ts";
import { identityOf } from "../snapshot/resource-lines.ts";
import { writeArchive } from "../write-archive.ts";
import { requirePublicFolder } from "./public-folder.ts";
import {
  currentChain,
  fileNameOf,
  isPublishedName,
  type PublishedSnapshot,
  type PublishedState,
  readState,
  stateFile,
  writeState,
} from "./state.ts";

export interface PublishRequest extends SnapshotPublication {
  /** The mirror's file; a sync may write it meanwhile. */
  readonly mirror: string;
  /** For nothing else; it is made if it is missing. */
  readonly folder: string;
  /** Armoire's data directory, which must not be published. */
  readonly dataDir?: string;
  /** Signs the snapshot; once one is signed, all later ones must be. Default: it is not signed. */
  readonly signingKey?: SigningKey;
  /** The key so far, if `signingKey` is another one: it signs that this one follows. The next snapshot is whole then. */
  readonly predecessor?: SigningKey;
  /** At most so many increments follow a whole snapshot. Default: 30. */
  readonly maxIncrements?: number;
  /** So many whole snapshots stay, with their increments. Default: 2. */
  readonly keep?: number;
  /** The time, in epoch milliseconds. */
  readonly now: () => number;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
  /** Cancels it; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** What was added to a published folder, and what was removed from it. */
export interface PublishReport {
  /** The absolute path. */
  readonly folder: string;
  /** Null if nothing has changed since the last one. */
  readonly published: PublishedSnapshot | null;
  /** Resources in it. */
  readonly resources: number;
  /** The number of the newest snapshot. */
  readonly sequence: number;
  /** The fingerprint of the key; null if it is not signed. */
  readonly signedBy: string | null;
  /** Of the newest snapshot with those that it continues, by kind. */
  readonly coverage: SnapshotCoverage;
  /** How whole the mirror was, also of resources that are in no snapshot. */
  readonly mirrorCoverage: Coverage;
  /** Files of earlier snapshots. */
  readonly removed: readonly string[];
}

export const defaultMaxIncrements = 30;
export const defaultKeep = 2;

/**
 * Adds a snapshot of the mirror to a published folder: an increment, or a whole one where that is due. Nothing is added if
 * nothing has changed.
 * @throws RangeError for an option out of its range; BackupError; FileError, also `locked`; MirrorError; the signal's reason
 */
export async function publishSnapshot(request: PublishRequest): Promise<PublishReport> {
  requireWholeNumbers(1, { keep: request.keep });
  requireWholeNumbers(0, { maxIncrements: request.maxIncrements });
  const folder = resolve(request.folder);
  try {
    requireNotOwnFolder(folder);
    return await inNewFolders(join(folder, stateFile), false, () => publishInto(folder, request));
  } catch (error) {
    throw toFileError(error, folder);
  }
}

async function publishInto(folder: string, request: PublishRequest): Promise<PublishReport> {
  await requireFolder(folder);
  requirePublicFolder({ folder, dataDir: request.dataDir, keyFile: request.signingKey?.file });
  const lock = takeLock(join(folder, stateFile), {
    startedAt: new Date(request.now()).toISOString(),
    busyMessage: `The folder ${folder} is in use`,
  });
  try {
    const state = readState(folder);
    if (state !== null) requireSameKey(state, folder, request);
    const chain = state === null ? [] : currentChain(state);
    const known = await readKnown(folder, chain);
    return await readMirror(request.mirror, async (mirror) => {
      // One read transaction: one instant of the mirror, while a sync may write it.
      mirror.db.exec("begin");
      requireSameService(state, folder, mirror);
      return await publishNext(mirror, { ...request, folder }, { state, chain, known });
    });
  } finally {
    lock.releaseAndRemove();
  }
}

interface Published {
  readonly state: PublishedState | null;
  readonly chain: readonly PublishedSnapshot[];
  /** What the chain says of each resource, by URL. */
  readonly known: ReadonlyMap<string, string>;
}

async function publishNext(
  mirror: MirrorReader,
  request: PublishRequest,
  { state, chain, known }: Published,
): Promise<PublishReport> {
  const { folder, license, citation, signingKey, keep = defaultKeep } = request;
  const last = chain.at(-1);
  const succession = successionOf(request, state, (last?.sequence ?? 0) + 1);
  const isWhole =
    last === undefined ||
    succession.length > 0 ||
    isWholeDue(chain, request.maxIncrements ?? defaultMaxIncrements);
  const continues = isWhole ? null : last.rootHash;
  const replaces = isWhole ? (last?.rootHash ?? null) : null;
  const publication = { license, ...(citation !== undefined && { citation }) };
  const before = { known: succession.length > 0 ? new Map() : known, continues, replaces };
  const contents = readSnapshotContents(mirror, publication, before);
  const sequence = (last?.sequence ?? 0) + 1;
  const signedBy = signingKey?.fingerprint ?? null;
  const mirrorCoverage = readCoverage(mirror);
  if (contents === null) {
    const removed = state === null ? [] : removeUnlisted(folder, state);
    const nothing = { published: null, resources: 0, sequence: sequence - 1 };
    return { folder, ...nothing, signedBy, removed, coverage: state?.coverage ?? [], mirrorCoverage };
  }
  const { manifest, wholeCoverage } = contents;
  const name = fileNameOf(sequence, manifest.takenOn);
  // A killed call may have left a file of this name, which no state lists.
  const written = await writeArchive({
    ...{ mirror: request.mirror, to: folder, name, content: contents, isSame: isSameContent },
    ...{ replace: true, isPublic: true },
    ...(request.readFreeBytes !== undefined && { readFreeBytes: request.readFreeBytes }),
    ...(request.signal !== undefined && { signal: request.signal }),
  });
  const { rootHash, bytes } = written;
  const { baseUrl } = manifest.service;
  const signature =
    signingKey === undefined ? null : signStatement({ baseUrl, sequence, rootHash }, signingKey);
  const published = {
    sequence,
    file: name,
    bytes,
    rootHash,
    takenOn: manifest.takenOn,
    continues,
    signature,
  };
  const successions = [...(state?.successions ?? []), ...succession];
  const next: PublishedState = {
    ...{ format: "armoire-snapshots", formatVersion: 1, service: manifest.service },
    ...{ line: state?.line ?? rootHash, license, citation: citation ?? null, coverage: wholeCoverage },
    ...(successions.length > 0 && { successions }),
    snapshots: newest([...(state?.snapshots ?? []), published], keep),
  };
  await writeState(folder, next);
  const removed = removeUnlisted(folder, next);
  const resources = manifest.coverage.reduce((sum, { held, gone }) => sum + held + gone, 0);
  const report = { folder, published, resources, sequence, signedBy, removed };
  return { ...report, coverage: wholeCoverage, mirrorCoverage };
}

/** Also once the increments are larger than the whole snapshot was. */
function isWholeDue([whole, ...increments]: readonly PublishedSnapshot[], maxIncrements: number): boolean {
  const bytes = increments.reduce((sum, increment) => sum + increment.bytes, 0);
  return increments.length >= maxIncrements || bytes > (whole?.bytes ?? 0);
}

/** The snapshots since the oldest whole one that stays. */
function newest(snapshots: readonly PublishedSnapshot[], keep: number): PublishedSnapshot[] {
  const wholes = snapshots.filter(({ continues }) => continues === null);
  const oldest = wholes.at(-keep) ?? wholes[0];
  return snapshots.filter(({ sequence }) => sequence >= (oldest?.sequence ?? 0));
}

/** Also what a killed call has left. */
function removeUnlisted(folder: string, { snapshots }: PublishedState): string[] {
  const listed = new Set(snapshots.map(({ file }) => file));
  const removed = readdirSync(folder).filter((name) => isPublishedName(name) && !listed.has(name));
  for (const name of removed) removeFile(join(folder, name));
  if (removed.length > 0) syncFolder(folder);
  return removed.sort();
}

/** @throws BackupError `damaged`, also for a file that is not the published one */
async function readKnown(folder: string, chain: readonly PublishedSnapshot[]): Promise<Map<string, string>> {
  const known = new Map<string, string>();
  for (const { file, sequence, rootHash, signature } of chain) {
    const path = join(folder, file);
    if (statSync(path, { throwIfNoEntry: false }) === undefined)
      throw new BackupError(
        "damaged",
        `A file that ${stateFile} lists is missing: ${path}`,
        "Put it back, or publish into another folder.",
      );
    const snapshot = await openSnapshot(path, { rootHash, published: { sequence, signature } });
    for await (const line of snapshot.lines()) known.set(line.url, identityOf(line));
  }
  return known;
}

/** Empty if the key stays, and if the folder was not signed by its predecessor. */
function successionOf(
  { signingKey, predecessor }: PublishRequest,
  state: PublishedState | null,
  sequence: number,
): Succession[] {
  const signedBy = state?.snapshots.at(-1)?.signature?.publicKey;
  if (state === null || signingKey === undefined || predecessor === undefined) return [];
  if (signedBy !== predecessor.publicKey || signedBy === signingKey.publicKey) return [];
  const of = { baseUrl: state.service.baseUrl, line: state.line };
  return [signSuccession(of, { sequence, successor: signingKey.publicKey, key: predecessor })];
}

/** Followers refuse a snapshot that another key has signed, or none. */
function requireSameKey(
  { snapshots }: PublishedState,
  folder: string,
  { signingKey, predecessor }: PublishRequest,
): void {
  const publicKey = snapshots.at(-1)?.signature?.publicKey;
  if (publicKey === undefined || publicKey === signingKey?.publicKey) return;
  if (signingKey !== undefined && publicKey === predecessor?.publicKey) return;
  throw new BackupError(
    "other-key",
    `The folder's snapshots are signed by ${fingerprintOf(publicKey)}: ${folder}`,
    "Give that key with --sign, or a new one with --sign and that key with --succeeds. Else followers refuse the folder.",
  );
}

function requireSameService(state: PublishedState | null, folder: string, mirror: MirrorReader): void {
  const { baseUrl, serviceName } = mirror.identity;
  if (state === null || (state.service.baseUrl === baseUrl && state.service.name === serviceName)) return;
  throw new BackupError(
    "wrong-place",
    `The folder is of ${state.service.name} at ${state.service.baseUrl}, and the mirror of ${serviceName} at ${baseUrl}: ${folder}`,
    "Publish into a folder of its own.",
  );
}
