/**
 * Opens and locks a mirror's SQLite file. In: a path. Out: a connection with the settings that durability depends on.
 * Errors are a MirrorError or those of SQLite, which `toMirrorError` converts.
 */
import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { requireDatabaseFile, requireOneName } from "../../platform/files/regular-files.ts";
import { syncFolder } from "../../platform/folders.ts";
import { type Lock, takeLock } from "../../platform/process-lock.ts";
import { applicationId, requireMirror } from "./definitions.ts";
import { MirrorError, notFoundError, notSqliteError } from "./errors.ts";

export type Connection = Database.Database;

/** Before 3.51.3, two processes that checkpoint at the same time could corrupt a WAL database. */
const minSqliteVersion = [3, 51, 3] as const;

/**
 * Locks a mirror for writing.
 * @param startedAt ISO 8601.
 * @throws FileError `locked`, naming the holder; `unwritable`
 */
export function lockMirror(file: string, startedAt: string): Lock {
  return takeLock(file, { startedAt, busyMessage: `The mirror ${file} is in use` });
}

/**
 * Opens for writing; creates the file if there is none. The caller holds the lock and has checked an existing file.
 */
export function openForWriting(file: string, options: { readonly isPrivate: boolean }): Connection {
  // "wx" creates the file with its mode, so that no other user can ever open it, whatever the umask.
  if (!requireDatabaseFile(file)) closeSync(openSync(file, "wx", 0o600));
  else {
    requireOneName(file);
    // The owner of a catalogue may have opened it to others; a user's data stays private.
    if (options.isPrivate) chmodSync(file, 0o600);
  }
  const db = new Database(file);
  requireSafeSqlite(db, file);
  db.pragma("journal_mode = WAL");
  // In WAL mode, NORMAL loses acknowledged commits on a power cut.
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  db.pragma(`application_id = ${applicationId}`);
  db.pragma("cache_size = -12288");
  // SQLite flushes the name of its new log too, but ignores a failure of that.
  syncFolder(dirname(file));
  // `checkpointIfLong` does it and reports its errors, which SQLite's own checkpoints ignore.
  db.pragma("wal_autocheckpoint = 0");
  return db;
}

/** In pages. A crawl changes the same pages many times: the longer the log, the fewer are copied to the file. */
const longLog = 4000;

/**
 * Copies a long log into the file. To be called outside a transaction.
 * @param pages default: 4000
 * @throws an error of SQLite
 */
export function checkpointIfLong(db: Connection, pages = longLog): void {
  const [{ log, checkpointed }] = db.pragma("wal_checkpoint(noop)") as [CheckpointState];
  if (log >= pages && checkpointed < log) db.pragma("wal_checkpoint(passive)");
}

interface CheckpointState {
  readonly busy: number;
  /** Pages in the log. */
  readonly log: number;
  /** Those of them that are in the file. */
  readonly checkpointed: number;
}

/**
 * Closes a connection that may have written, with the log copied into the file unless a reader needs it. SQLite does the
 * same when it closes the last connection, but reports no error there.
 * @throws an error of SQLite; the connection is then closed too, and every commit is still in the log
 */
export function closeWritten(db: Connection): void {
  try {
    if (db.pragma("journal_mode", { simple: true }) === "wal") truncateLog(db);
  } finally {
    db.close();
  }
}

/** @returns false if a reader needs the log */
function truncateLog(db: Connection): boolean {
  const timeout = db.pragma("busy_timeout", { simple: true });
  // Do not wait for readers.
  db.pragma("busy_timeout = 0");
  const [{ busy }] = db.pragma("wal_checkpoint(truncate)") as [CheckpointState];
  db.pragma(`busy_timeout = ${timeout}`);
  return busy === 0;
}

/** How long a statement waits for a lock of another process, by default. */
const busyMillis = 5000;

/** Larger ones made no command faster: the operating system keeps the file's pages, once for all connections. */
const readCacheKibibytes = 2048;

/**
 * Opens read-only; refuses files that are no mirror, that a newer version has written, or whose tables were changed.
 * @throws also FileError `not-a-file`
 */
export function openForReading(file: string, timeout = busyMillis): Connection {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw notSqliteError(file);
  if (!requireDatabaseFile(file)) throw notFoundError(file);
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout });
  try {
    requireSafeSqlite(db, file);
    requireMirror(db, file);
    db.pragma(`cache_size = -${readCacheKibibytes}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function requireSafeSqlite(db: Connection, file: string): void {
  const version = String(db.prepare("select sqlite_version()").pluck().get());
  const numbers = version.split(".").map(Number);
  const differences = minSqliteVersion.map((part, index) => (numbers[index] ?? 0) - part);
  if ((differences.find((difference) => difference !== 0) ?? 0) < 0) {
    throw new MirrorError(
      "unsafe-sqlite",
      file,
      `SQLite ${version} can corrupt a mirror`,
      `Use SQLite ${minSqliteVersion.join(".")} or later.`,
    );
  }
}

/**
 * Runs `work` in one transaction in which rows may refer to rows that it inserts later. All references are checked
 * once at the end: for a single row, SQLite would have to scan whole tables.
 * @returns a table with a dangling reference, in which case nothing is written; else null
 */
export async function withDeferredReferences(
  db: Connection,
  work: () => Promise<void>,
): Promise<string | null> {
  db.pragma("foreign_keys = off");
  db.exec("begin immediate");
  try {
    await work();
    const [dangling] = db.pragma("foreign_key_check") as { table: string }[];
    if (dangling !== undefined) return dangling.table;
    db.exec("commit");
    return null;
  } finally {
    if (db.inTransaction) db.exec("rollback");
    db.pragma("foreign_keys = on");
  }
}

/**
 * Returns unused space to the file system. SQLite rewrites the whole file in one transaction: until its commit, the
 * old file remains valid, and readers keep seeing it. It temporarily needs free space for two copies of the new file.
 * @returns false if a reader keeps the old file in use: then the next writer finishes the work
 */
export function vacuum(db: Connection): boolean {
  db.exec("vacuum");
  return truncateLog(db);
}
