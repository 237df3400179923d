/**
 * A mirror: one SQLite file that holds what one principal sees of one service. In: results of fetches, in batches. Out:
 * what is due, and everything that was ever seen. It must not know the network, the engines or the command line; the
 * table of kinds is handed to it.
 */

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Kinds } from "../../schema/kind.ts";
import { makeFolders } from "../platform/folders.ts";
import { prepareAbsences } from "./absence/absences.ts";
import { recheckTombstones } from "./absence/tombstones.ts";
import { addLinks, type CatalogueLink } from "./account/catalogue-links.ts";
import { type AccountUser, recordAccountUser } from "./account/user.ts";
import { prepareCompression } from "./bodies/background-compression.ts";
import { prepareBodyStore } from "./bodies/body-store.ts";
import { prepareDictionaries } from "./bodies/dictionaries.ts";
import { type CheckCycle, writeCycle } from "./check-cycle.ts";
import { deriveContextOf } from "./derive/derive.ts";
import { prepareLinks } from "./derive/links.ts";
import { type RebuildReport, rebuildProjections } from "./derive/rebuild.ts";
import { prepareResources } from "./derive/resources.ts";
import { prepareDerivedWriter } from "./derive/write-derived.ts";
import { type Connection, lockMirror, openForWriting, vacuum } from "./file/connection.ts";
import { createMirror } from "./file/create-mirror.ts";
import { toMirrorError, toOpeningError } from "./file/errors.ts";
import { ensureMirrorId, type MirrorIdentity, requireIdentity } from "./file/meta.ts";
import { migrateMirror } from "./file/migrate.ts";
import { type IngestSummary, prepareIngest, prepareResolveAbsences, type ResourceResult } from "./ingest.ts";
import { storePicture } from "./media/media-files.ts";
import {
  type KnownPicture,
  listPictures,
  notePictures,
  type PictureAnswer,
  recordPicture,
} from "./media/media-index.ts";
import { type MirrorReader, readMirror } from "./reader.ts";
import { type PrunableData, pruneRuns } from "./runs/prune-runs.ts";
import { beginRun, closeRun, type RunClosing, type RunEnd, type RunStart } from "./runs/runs.ts";
import { prepareSearchIndex } from "./search/search-index.ts";

/** A mirror open for writing, by the one process that holds its lock. */
export interface MirrorWriter extends MirrorReader {
  beginRun(start: RunStart): number;
  closeRun(runId: number, end: RunEnd): RunClosing;
  /** Makes the service's front page known, so that a first run has where to begin. */
  addRoot(runId: number): void;
  /** From now on, and for good, links of these names lead to resources that can be fetched. */
  followLinks(names: readonly string[], runId: number): void;
  /** Makes known what was found outside this mirror; gives the ids. */
  addResources(links: readonly CatalogueLink[], runId: number): number[];
  ingest(results: readonly ResourceResult[], runId: number): IngestSummary;
  rebuild(): RebuildReport;
  /**
   * Compresses some of the bodies that were not looked at yet, in a short transaction.
   * @returns how many it looked at: none, when all are done
   */
  compressBatch(): number;
  /** How many bodies `compressBatch` has not looked at yet and may make smaller. */
  countUncompressed(): number;
  /** Has all bodies looked at again, with better dictionaries where those pay, and where these may have in them what was forgotten. */
  recompressAll(): void;
  /**
   * Lets go of runs, and of what only they have seen, but for what dictionaries have of it, until `compressAnew`.
   * @param runIds runs that have ended, without the latest
   * @param at ISO 8601
   */
  pruneRuns(runIds: readonly number[], at: string): PrunableData;
  /** Gives unused space back to the file system: the file is written anew, in one transaction, without what no body needs. @returns as `vacuum` does */
  vacuum(): boolean;
  /** Says whose data it holds, once that is known. */
  recordUser(user: AccountUser, meUrl: string): void;
  /** Notes the pictures that the newest bodies refer to; gives them. */
  notePictures(): KnownPicture[];
  /** Keeps a picture's bytes in a file; gives their SHA-256 in hexadecimal. */
  storePicture(bytes: Uint8Array): string;
  /** @returns whether there is something else than before */
  recordPicture(answer: PictureAnswer): boolean;
  /** Begins a cycle of checks. */
  beginCycle(cycle: CheckCycle): void;
  /** @param checkedBefore ISO 8601; of tombstones that something still leads to, those not asked for since are due again */
  recheckTombstones(checkedBefore: string, now: string): void;
}

export interface OpenMirrorOptions {
  readonly file: string;
  readonly identity: MirrorIdentity;
  readonly kinds: Kinds;
  /** ISO 8601; told to whoever finds the mirror locked. */
  readonly openedAt: string;
}

/**
 * Makes the mirror's file when there is none. Opening it for writing does so too; this is for a caller that has something
 * else to wait for meanwhile.
 * @throws MirrorError, also `locked`
 */
export async function makeMirror({
  file,
  identity,
  openedAt,
}: Omit<OpenMirrorOptions, "kinds">): Promise<void> {
  if (existsSync(file)) return;
  mkdirFor(file);
  const lock = lockMirror(file, openedAt);
  try {
    if (!existsSync(file)) await createMirror(file, identity);
  } catch (error) {
    throw toOpeningError(error, file);
  } finally {
    lock.release();
  }
}

/**
 * Opens a mirror for writing; makes it when there is no such file.
 * @throws MirrorError, also `locked` and `other-service`
 */
export async function openMirrorWriter(options: OpenMirrorOptions): Promise<MirrorWriter> {
  const { file, identity, kinds } = options;
  mkdirFor(file);
  const lock = lockMirror(file, options.openedAt);
  let db: Connection | null = null;
  try {
    if (existsSync(file)) requireMirrorOf(identity, file);
    else await createMirror(file, identity);
    db = openForWriting(file, { isPrivate: identity.area === "account" });
    await migrateMirror(db);
    ensureMirrorId(db);
    return writer(db, lock.release);
  } catch (error) {
    db?.close();
    lock.release();
    throw toOpeningError(error, file);
  }

  function guard<Args extends readonly unknown[], Result>(
    write: (...args: Args) => Result,
  ): (...args: Args) => Result {
    return (...args) => {
      try {
        return write(...args);
      } catch (error) {
        throw toMirrorError(error, file);
      }
    };
  }

  function writer(connection: Connection, releaseLock: () => void): MirrorWriter {
    const resources = prepareResources(connection, kinds, identity.area);
    const links = prepareLinks(connection, resources);
    const context = deriveContextOf(identity, kinds);
    const absences = prepareAbsences(connection);
    const dictionaries = prepareDictionaries(connection);
    const bodies = prepareBodyStore(connection, dictionaries);
    const compression = prepareCompression(connection, dictionaries);
    const search = prepareSearchIndex(connection);
    const derivedWriter = prepareDerivedWriter(connection, resources, links, search);
    const rebuild = () => rebuildProjections(connection, identity.area, context);
    const judge = prepareResolveAbsences(connection, absences);
    const ingest = prepareIngest(connection, bodies, derivedWriter, context, (results, summary, runId) => {
      judge(results, summary, runId);
      search.settle(runId);
    });
    return {
      file,
      identity,
      asOf: null,
      db: connection,
      beginRun: guard((start) => beginRun(connection, start)),
      closeRun: guard((runId, end) => closeRun(connection, absences, runId, end)),
      addRoot: guard((runId) => void resources.ensure(identity.baseUrl, "root", null, runId)),
      addResources: guard((given, runId) =>
        connection.transaction(() => addLinks(resources, given, runId))(),
      ),
      followLinks: guard((names, runId) => links.follow(names, runId)),
      ingest: guard(ingest),
      rebuild: guard(rebuild),
      compressBatch: guard(() => compression.compressBatch()),
      countUncompressed: guard(() => compression.countToCompress()),
      recompressAll: guard(() => compression.beginAnew()),
      pruneRuns: guard((runIds, at) => pruneRuns(connection, runIds, at)),
      vacuum: guard(() => {
        compression.removeUnused();
        return vacuum(connection);
      }),
      recordUser: guard((user, meUrl) => recordAccountUser(connection, user, meUrl)),
      notePictures: guard(() => {
        connection.transaction(() => notePictures(connection))();
        return listPictures(connection);
      }),
      storePicture: guard((bytes) => storePicture(file, bytes)),
      recordPicture: guard((answer) => connection.transaction(() => recordPicture(connection, answer))()),
      beginCycle: guard((cycle) => writeCycle(connection, cycle)),
      recheckTombstones: guard((checkedBefore, now) => recheckTombstones(connection, checkedBefore, now)),
      close() {
        connection.close();
        releaseLock();
      },
    };
  }
}

/** Looks before anything is written. */
function requireMirrorOf(identity: MirrorIdentity, file: string): void {
  readMirror(file, (mirror) => requireIdentity(file, mirror.identity, identity));
}

/** Makes the folder that a mirror is to be in. @throws MirrorError */
export function mkdirFor(file: string): void {
  try {
    makeFolders(dirname(file));
  } catch (error) {
    throw toMirrorError(error, file);
  }
}

/** Computes a mirror's projections anew from its bodies. @throws MirrorError */
export async function rebuildMirror(options: {
  readonly file: string;
  readonly kinds: Kinds;
  /** ISO 8601; told to whoever finds the mirror locked. */
  readonly openedAt: string;
}): Promise<RebuildReport> {
  const identity = readMirror(options.file, (mirror) => mirror.identity);
  const mirror = await openMirrorWriter({ ...options, identity });
  try {
    return mirror.rebuild();
  } finally {
    mirror.close();
  }
}
