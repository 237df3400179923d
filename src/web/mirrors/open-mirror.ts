/**
 * The mirror of a server: opened as a reader, kept open between pages, and one read transaction for each page. A file that
 * was replaced, migrated or removed meanwhile is opened again.
 */
import { statSync } from "node:fs";
import type { Area } from "../../../schema/kind.ts";
import { MirrorError, toMirrorError } from "../../mirror/file/errors.ts";
import type { Point } from "../../mirror/points/point.ts";
import { resolvePoint } from "../../mirror/points/resolve-point.ts";
import { type MirrorReader, openMirrorReader } from "../../mirror/reader.ts";
import { hasCode } from "../../platform/errors.ts";
import { isLocked } from "../../platform/process-lock.ts";
import { keepStatements } from "./kept-statements.ts";

export interface ServedMirror {
  /**
   * Calls `use` in a read transaction.
   * @throws MirrorError, PointError; errors of `use`
   */
  read<Result>(point: Point | undefined, use: (mirror: MirrorReader) => Result): Result;
  /**
   * As `read`; calls in one turn of the event loop share a transaction, which ends with the turn. Requests that arrive together
   * then take half the time of `read`.
   */
  readInTurn<Result>(point: Point | undefined, use: (mirror: MirrorReader) => Result): Result;
  /** A connection of its own, for rows that are sent slowly. The caller closes it. */
  open(point: Point | undefined): MirrorReader;
  /**
   * Changes with every commit of another process, and when the file is another one; constant without a mirror. It costs less
   * than a transaction. Calls in one turn of the event loop return the same.
   */
  dataVersion(): string;
  /** As `dataVersion`, and changes when a sync begins or ends. */
  version(): string;
  close(): void;
}

/** A short wait: a page that waits for a lock holds up all others. */
const busyMillis = 250;
/** Earlier states that are kept open. */
const maxPastReaders = 4;

export interface ServeMirrorOptions {
  /** Called when nothing known of the file holds any more. */
  readonly onReplaced?: () => void;
  /** Of the file, kept in memory for reading its present state. Default: that of `openMirrorReader`. */
  readonly cacheKibibytes?: number;
  /** The only one that is served: the mirror of an account needs its key. Default: any. */
  readonly area?: Area;
}

/** @param findFile called again while there is no file */
export function serveMirror(
  findFile: () => string | null,
  { onReplaced = () => {}, cacheKibibytes, area }: ServeMirrorOptions = {},
): ServedMirror {
  /** By the run whose state they show. */
  const past = new Map<number, OpenReader>();
  let present: PresentReader | null = null;
  /** Each connection counts commits in its own way. */
  let openings = 0;
  let identity = "";
  /** Begun by `readInTurn`. */
  let turn: { readonly file: string; readonly point: Point | undefined; readonly open: OpenReader } | null =
    null;

  /** What `readInTurn` and `dataVersion` have seen of the file in this turn of the event loop. */
  let seen: { readonly file: string; readonly version: string } | null = null;

  const endTurn = () => {
    if (turn?.open.reader.db.inTransaction) turn.open.rollback();
    turn = null;
  };

  const closeAll = () => {
    endTurn();
    seen = null;
    for (const open of [present, ...past.values()]) open?.reader.close();
    past.clear();
    present = null;
    onReplaced();
  };

  const fileNow = (): string => {
    const file = findFile();
    if (file === null) throw nothingHeld();
    const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
    const found = stats === undefined ? "" : `${file} ${stats.dev} ${stats.ino}`;
    if (found !== identity) closeAll();
    identity = found;
    return file;
  };

  const openPresent = (file: string): PresentReader => {
    if (present?.isCurrent()) return present;
    // A migration: the views of earlier states would lack its columns.
    closeAll();
    openings++;
    present = watchVersions(openReader(file, undefined, area));
    if (cacheKibibytes !== undefined) present.reader.db.pragma(`cache_size = -${cacheKibibytes}`);
    return present;
  };

  const openAt = (file: string, point: Point | undefined): OpenReader => {
    const now = openPresent(file);
    if (point === undefined) return now;
    const { run } = resolvePoint(now.reader.db, point);
    const open = past.get(run) ?? openReader(file, { kind: "run", run }, area);
    // The last used one is the last in the map.
    past.delete(run);
    past.set(run, open);
    const [oldest] = past.keys();
    if (past.size > maxPastReaders && oldest !== undefined) {
      past.get(oldest)?.reader.close();
      past.delete(oldest);
    }
    return open;
  };

  const withErrors = <Result>(work: (file: string) => Result, file = fileNow()): Result => {
    try {
      return work(file);
    } catch (error) {
      const converted = hasCode(error, "SQLITE_BUSY") ? lockedError(file, error) : toMirrorError(error, file);
      // The next page opens the file again.
      if (converted instanceof MirrorError) closeAll();
      throw converted;
    }
  };

  const versionOf = (file: string): string => `${openPresent(file).commits()} ${openings}`;

  const seeOncePerTurn = () => {
    if (seen === null) {
      seen = withErrors((file) => ({ file, version: versionOf(file) }));
      setImmediate(() => {
        seen = null;
      });
    }
    return seen;
  };

  return {
    read: (point, use) =>
      withErrors((file) => {
        const { reader, begin, rollback } = openAt(file, point);
        begin();
        try {
          return use(reader);
        } finally {
          if (reader.db.inTransaction) rollback();
        }
      }),
    readInTurn(point, use) {
      if (turn !== null && turn.point === point) {
        const { open, file } = turn;
        return withErrors(() => use(open.reader), file);
      }
      const { file } = seeOncePerTurn();
      return withErrors(() => {
        endTurn();
        const open = point === undefined && present !== null ? present : openAt(file, point);
        open.begin();
        turn = { file, point, open };
        setImmediate(endTurn);
        return use(open.reader);
      }, file);
    },
    open: (point) =>
      withErrors((file) => {
        const { reader, begin } = openReader(file, point, area);
        begin();
        return reader;
      }),
    dataVersion: () => ifThere(() => seeOncePerTurn().version),
    version: () => ifThere(() => withErrors((file) => `${versionOf(file)} ${isLocked(file)}`)),
    close: closeAll,
  };
}

function ifThere(readVersion: () => string): string {
  try {
    return readVersion();
  } catch (error) {
    if (error instanceof MirrorError && error.code === "not-found") return "";
    throw error;
  }
}

interface OpenReader {
  readonly reader: MirrorReader;
  begin(): void;
  rollback(): void;
}

interface PresentReader extends OpenReader {
  /** Whether its tables are still those that it was opened with. */
  isCurrent(): boolean;
  /** Changes with every commit of another process, as `isCurrent` has seen it. */
  commits(): unknown;
}

function openReader(file: string, point: Point | undefined, area: Area | undefined): OpenReader {
  const opened = openMirrorReader(file, point, busyMillis);
  if (area !== undefined && opened.identity.area !== area) {
    opened.close();
    throw new MirrorError(
      "other-service",
      file,
      area === "catalogue"
        ? "This mirror is of an account, not of a catalogue"
        : "This mirror is of a catalogue, not of an account",
      "`armoire serve --account NAME` serves an account, with a key. `armoire backup restore FILE --account NAME` restores one.",
    );
  }
  const [begin, rollback] = [opened.db.prepare<[]>("begin"), opened.db.prepare<[]>("rollback")];
  const reader = { ...opened, db: keepStatements(opened.db) };
  return { reader, begin: () => begin.run(), rollback: () => rollback.run() };
}

function watchVersions(open: OpenReader): PresentReader {
  const { db } = open.reader;
  const readCommits = db.prepare("pragma data_version").pluck();
  const readSchema = db.prepare("pragma schema_version").pluck();
  const schema = readSchema.get();
  let commits = readCommits.get();
  return {
    ...open,
    isCurrent() {
      const before = commits;
      commits = readCommits.get();
      return commits === before || readSchema.get() === schema;
    },
    commits: () => commits,
  };
}

export const nothingHeld = () =>
  new MirrorError(
    "not-found",
    "the data directory",
    "There is no mirror yet",
    "Create one with `armoire sync --base-url URL`.",
  );

const lockedError = (file: string, cause: unknown) =>
  new MirrorError(
    "locked",
    file,
    "Another process uses the mirror exclusively",
    "Wait until it has ended, and load the page again.",
    { cause: cause as Error },
  );
