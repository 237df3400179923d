/**
 * Opens a mirror for writing: one SQLite file with everything that one principal has seen of one service. In: batches
 * of fetch results. It must not know the network, the engines or the command line; the table of kinds is a parameter.
 */
import { existsSync } from "node:fs";
import type { Kinds } from "../../schema/kind.ts";
import { prepareAbsences } from "./absence/absences.ts";
import { type RefusalLimits, recheckRefused } from "./absence/refused-scopes.ts";
import { recheckTombstones, supersedePages } from "./absence/tombstones.ts";
import { addLinks, type CatalogueLink } from "./account/catalogue-links.ts";
import { prepareLinkedChecks } from "./account/linked-checks.ts";
import { type AccountUser, recordAccountUser } from "./account/user.ts";
import { prepareCompression } from "./bodies/background-compression.ts";
import { prepareBodyStore } from "./bodies/body-store.ts";
import { prepareDictionaries } from "./bodies/dictionaries.ts";
import { type CheckCycle, writeCycle } from "./check-cycle.ts";
import { deriveContextOf } from "./derive/derive.ts";
import { prepareLinks } from "./derive/links.ts";
import { type RebuildReport, rebuildProjections } from "./derive/rebuild.ts";
import { prepareResources, requestAgain } from "./derive/resources.ts";
import { prepareDerivedWriter } from "./derive/write-derived.ts";
import {
  type Connection,
  checkpointIfLong,
  closeWritten,
  openForWriting,
  vacuum,
} from "./file/connection.ts";
import { createMirror, lockPlace } from "./file/create-mirror.ts";
import { notFoundError, toMirrorError, toOpeningError } from "./file/errors.ts";
import { type MirrorIdentity, requireIdentity, writeServiceName } from "./file/meta.ts";
import { migrateMirror } from "./file/migrate.ts";
import {
  type IngestSummary,
  idsReceived,
  prepareIngest,
  prepareResolveAbsences,
  type ResourceResult,
} from "./ingest.ts";
import { type LoadWrites, prepareLoadWrites, settleSnapshots } from "./load/load-writes.ts";
import { storePicture } from "./media/media-files.ts";
import {
  type KnownPicture,
  listPictures,
  notePictures,
  type PictureResult,
  recordPicture,
} from "./media/media-index.ts";
import { type MirrorReader, readMirror } from "./reader.ts";
import { storeCoverageAgain } from "./runs/coverage.ts";
import { type PrunableData, pruneRuns } from "./runs/prune-runs.ts";
import { beginRun, closeRun, type RunClosing, type RunEnd, type RunStart } from "./runs/runs.ts";
import { prepareSearchIndex, repairSearchConfiguration } from "./search/search-index.ts";
import type { SeenBy } from "./snapshots/snapshot-resource.ts";

/** A mirror open for writing, by the one process that holds its lock. */
export interface MirrorWriter extends MirrorReader {
  beginRun(start: RunStart): number;
  closeRun(runId: number, end: RunEnd): RunClosing;
  /** Adds the service's root, where a first run begins. */
  addRoot(runId: number): void;
  /** Turns the targets of links with these names into resources, now and in all future runs. */
  followLinks(names: readonly string[], runId: number): void;
  /** Adds resources that another mirror links to. @returns their ids */
  addResources(links: readonly CatalogueLink[], runId: number): number[];
  ingest(results: readonly ResourceResult[], runId: number): IngestSummary;
  /** For loading snapshots. */
  readonly loads: () => LoadWrites;
  /** Prepares a run with this kind of credential for what was loaded from snapshots. */
  settleSnapshots(kind: SeenBy): void;
  /** @param serviceName a new prefix of the service's own fields. Default: the same */
  rebuild(serviceName?: string): RebuildReport;
  /**
   * Compresses some bodies in a short transaction.
   * @returns the number of bodies examined; 0 if none is left
   */
  compressBatch(): number;
  /** The number of bodies that `compressBatch` has not examined and may make smaller. */
  countUncompressed(): number;
  /**
   * Makes `compressBatch` examine all bodies again, with new dictionaries if those are better or if the old ones may
   * contain pruned data.
   */
  recompressAll(): void;
  /**
   * Removes runs and the data that only they contain. Fragments may remain in compression dictionaries until
   * `recompressAll` and `compressBatch`.
   * @param runIds ended runs, without the latest
   * @param at ISO 8601
   */
  pruneRuns(runIds: readonly number[], at: string): PrunableData;
  /**
   * Removes unused dictionaries, and returns unused space to the file system.
   * @returns false if a reader keeps the old file in use
   */
  vacuum(): boolean;
  /** Records the user whose data the mirror holds. */
  recordUser(user: AccountUser, meUrl: string): void;
  /** Adds the pictures that current bodies refer to. @returns all known pictures */
  notePictures(): KnownPicture[];
  /** Stores a picture in a file. @param type for example `image/png` @returns its SHA-256 in hex */
  storePicture(bytes: Uint8Array, type: string): string;
  /** In one step. @returns of each, whether the picture has changed */
  recordPictures(results: readonly PictureResult[]): boolean[];
  /** Ends pages that have left their lists, and validates these lists: a run has read what it can. */
  supersedePages(runId: number): void;
  /** Starts a cycle of checks. */
  beginCycle(cycle: CheckCycle): void;
  /**
   * Makes tombstones due that held resources still link to.
   * @param checkedBefore ISO 8601; later checks are recent enough
   */
  recheckTombstones(checkedBefore: string, now: string): void;
  /** Makes lists of the user due that the service refused to the token. */
  recheckRefused(limits: RefusalLimits): void;
  /** Makes known resources due, even if this run has checked them; tombstones stay. @returns their ids */
  requestAgain(urls: readonly string[]): number[];
}

export interface OpenMirrorOptions {
  readonly file: string;
  readonly identity: MirrorIdentity;
  readonly kinds: Kinds;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /** Whether a missing mirror is an error, also if it was there a moment ago. Default: false, it is created. */
  readonly mustExist?: boolean;
  /** Whether to repair what a rebuild needs to begin. Default: false. */
  readonly repairs?: boolean;
}

/**
 * Opens a mirror for writing; creates it if there is none.
 * @throws MirrorError, such as `other-service`; FileError `locked`
 */
export async function openMirrorWriter(options: OpenMirrorOptions): Promise<MirrorWriter> {
  const { file, identity, kinds, openedAt, mustExist = false } = options;
  const requirePlace = () => {
    if (!existsSync(file)) throw notFoundError(file);
  };
  const lock = lockPlace({ file, openedAt, ...(mustExist && { requirePlace }) });
  let db: Connection | null = null;
  try {
    if (existsSync(file)) requireMirrorOf(identity, file);
    else await createMirror(file, identity);
    db = openForWriting(file, { isPrivate: identity.area === "account" });
    await migrateMirror(db);
    if (options.repairs === true) repairSearchConfiguration(db);
    return writer(db);
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
        lock.requireHeld();
        const result = write(...args);
        if (db !== null) checkpointIfLong(db);
        return result;
      } catch (error) {
        throw toMirrorError(error, file);
      }
    };
  }

  function writer(connection: Connection): MirrorWriter {
    const resources = prepareResources(connection, kinds, identity.area);
    const links = prepareLinks(connection, resources);
    const context = deriveContextOf(identity, kinds);
    const absences = prepareAbsences(connection);
    const dictionaries = prepareDictionaries(connection);
    const bodies = prepareBodyStore(connection, dictionaries);
    const compression = prepareCompression(connection, dictionaries);
    const search = prepareSearchIndex(connection);
    const derivedWriter = prepareDerivedWriter(connection, resources, links, search);
    const resolveAbsences = prepareResolveAbsences(connection, absences);
    const linkedChecks = prepareLinkedChecks(connection);
    /** The run that requests resources for an account alone. */
    let linkedRun: number | null = null;
    const ingest = prepareIngest(connection, bodies, derivedWriter, context, (results, summary, runId) => {
      resolveAbsences(results, summary, runId);
      if (runId !== linkedRun) linkedChecks.forget(idsReceived(results, summary));
      search.update(runId);
    });
    return {
      file,
      identity,
      asOf: null,
      db: connection,
      beginRun: guard((start) => beginRun(connection, start)),
      closeRun: guard((runId, end) => closeRun(connection, absences, runId, end)),
      addRoot: guard((runId) => void resources.ensure(identity.baseUrl, "root", null, runId)),
      addResources: guard((targets, runId) =>
        connection.transaction(() => {
          linkedRun = runId;
          const ids = addLinks(resources, targets, runId);
          linkedChecks.keep(ids);
          return ids;
        })(),
      ),
      followLinks: guard((names, runId) => links.follow(names, runId)),
      ingest: guard(ingest),
      loads: () =>
        prepareLoadWrites(connection, absences, {
          ...{ guard, kinds, context, area: identity.area, bodies, links, search },
        }),
      settleSnapshots: guard((kind) => {
        settleSnapshots(connection, absences, { area: identity.area, context, kind });
      }),
      rebuild: guard((serviceName: string = identity.serviceName) =>
        connection.transaction(() => {
          writeServiceName(connection, serviceName);
          const renamed = deriveContextOf({ ...identity, serviceName }, kinds);
          const report = rebuildProjections(connection, identity.area, renamed);
          storeCoverageAgain(connection);
          return report;
        })(),
      ),
      compressBatch: guard(() => compression.compressBatch()),
      countUncompressed: guard(() => compression.countToCompress()),
      recompressAll: guard(() => compression.restart()),
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
      storePicture: guard((bytes, type) => storePicture(file, bytes, type)),
      recordPictures: guard((results) =>
        connection.transaction(() => results.map((result) => recordPicture(connection, result)))(),
      ),
      supersedePages: guard((runId) => connection.transaction(supersedePages)(connection, absences, runId)),
      beginCycle: guard((cycle) => writeCycle(connection, cycle)),
      recheckTombstones: guard((checkedBefore, now) => recheckTombstones(connection, checkedBefore, now)),
      recheckRefused: guard((limits) => connection.transaction(() => recheckRefused(connection, limits))()),
      requestAgain: guard((urls) => requestAgain(connection, urls)),
      close() {
        try {
          closeWritten(connection);
        } catch (error) {
          throw toMirrorError(error, file);
        } finally {
          lock.release();
        }
      },
    };
  }
}

/** Checks an existing file before anything is written to it. */
function requireMirrorOf(identity: MirrorIdentity, file: string): void {
  readMirror(file, (mirror) => requireIdentity(file, mirror.identity, identity));
}

/** Derives a mirror's rows again from its bodies. @throws MirrorError; FileError `locked` */
export async function rebuildMirror(options: {
  readonly file: string;
  readonly kinds: Kinds;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /** A new prefix of the service's own fields: `acme` for `acme_url`. Default: the same. */
  readonly serviceName?: string;
}): Promise<RebuildReport> {
  const identity = readMirror(options.file, (mirror) => mirror.identity);
  const mirror = await openMirrorWriter({ ...options, identity, mustExist: true, repairs: true });
  try {
    return mirror.rebuild(options.serviceName);
  } finally {
    mirror.close();
  }
}
