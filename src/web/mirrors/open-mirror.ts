/**
 * The mirror of a server: opened as a reader, kept open between pages, and one read transaction for each page. A file that
 * was replaced, migrated or removed meanwhile is opened again.
 */
import { statSync } from "node:fs";
import { MirrorError, toMirrorError } from "../../mirror/file/errors.ts";
import type { Point } from "../../mirror/points/point.ts";
import { resolvePoint } from "../../mirror/points/resolve-point.ts";
import { type MirrorReader, openMirrorReader } from "../../mirror/reader.ts";
import { hasCode } from "../../platform/errors.ts";
import { isLocked } from "../../platform/process-lock.ts";

export interface ServedMirror {
  /**
   * Calls `use` in a read transaction.
   * @throws MirrorError, PointError; errors of `use`
   */
  read<Result>(point: Point | undefined, use: (mirror: MirrorReader) => Result): Result;
  /** A connection of its own, for rows that are sent slowly. The caller closes it. */
  open(point: Point | undefined): MirrorReader;
  /** Changes with what the mirror shows of the present, and when a sync begins or ends; constant without a mirror. */
  version(): string;
  close(): void;
}

/** A short wait: a page that waits for a lock holds up all others. */
const busyMillis = 250;
/** Earlier states that are kept open. */
const maxPastReaders = 4;

/** @param findFile called again while there is no file @param onReplaced called when nothing known of the file holds any more */
export function serveMirror(findFile: () => string | null, onReplaced: () => void = () => {}): ServedMirror {
  /** By the run whose state they show; null for the present. */
  const readers = new Map<number | null, MirrorReader>();
  let identity = "";
  /** Prepared once: a request of the API reads it in less time than it takes to prepare. */
  let readSchemaVersion: (() => unknown) | null = null;
  let schemaVersion: unknown = null;

  const closeAll = () => {
    for (const reader of readers.values()) reader.close();
    readers.clear();
    onReplaced();
    readSchemaVersion = null;
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

  const present = (file: string): MirrorReader => {
    const open = readers.get(null);
    if (open !== undefined && readSchemaVersion?.() === schemaVersion) return open;
    // A migration: the views of earlier states would lack its columns.
    closeAll();
    const reader = openMirrorReader(file, undefined, busyMillis);
    const select = reader.db.prepare<[], unknown>("pragma schema_version").pluck();
    readSchemaVersion = () => select.get();
    schemaVersion = readSchemaVersion();
    readers.set(null, reader);
    return reader;
  };

  const readerFor = (file: string, point: Point | undefined): MirrorReader => {
    if (point === undefined) return present(file);
    const { run } = resolvePoint(present(file).db, point);
    const reader = readers.get(run) ?? openMirrorReader(file, { kind: "run", run }, busyMillis);
    // The last used one is the last in the map.
    readers.delete(run);
    readers.set(run, reader);
    const [oldest] = [...readers.keys()].filter((key) => key !== null);
    if (readers.size > maxPastReaders + 1 && oldest !== undefined) {
      readers.get(oldest)?.close();
      readers.delete(oldest);
    }
    return reader;
  };

  const withErrors = <Result>(work: (file: string) => Result): Result => {
    const file = fileNow();
    try {
      return work(file);
    } catch (error) {
      const converted = hasCode(error, "SQLITE_BUSY") ? lockedError(file, error) : toMirrorError(error, file);
      // The next page opens the file again.
      if (converted instanceof MirrorError) closeAll();
      throw converted;
    }
  };

  return {
    read: (point, use) =>
      withErrors((file) => {
        const reader = readerFor(file, point);
        reader.db.exec("begin");
        try {
          return use(reader);
        } finally {
          if (reader.db.inTransaction) reader.db.exec("rollback");
        }
      }),
    open: (point) =>
      withErrors((file) => {
        const reader = openMirrorReader(file, point, busyMillis);
        reader.db.exec("begin");
        return reader;
      }),
    version() {
      if (findFile() === null) return "";
      return withErrors((file) => {
        const version: unknown = present(file).db.pragma("data_version", { simple: true });
        return `${identity} ${version} ${isLocked(file)}`;
      });
    },
    close: closeAll,
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
