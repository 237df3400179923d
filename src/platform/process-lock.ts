/**
 * Locks between processes. A lock is an exclusive transaction on a small SQLite file; the operating system ends it with
 * the process, however that dies, so there are no stale locks. A second small file names the holder, for messages only.
 * If the file of a held lock is removed, it locks nothing any more: `requireHeld` takes the lock again.
 */
import {
  closeSync,
  futimesSync,
  lstatSync,
  openSync,
  realpathSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { FileError, hasCode } from "./errors.ts";
import { readRegularFile, requireDatabaseFile, requireOwnFile } from "./files/regular-files.ts";

/** Longer than `isLocked` holds the file open. */
const busyTimeoutMillis = 100;
/** Attempts to open a file that other processes remove and create. */
const maxAttempts = 1_000;
const maxHolderBytes = 4096;
/** The latest modification time that every file system can store. */
const maxSeconds = 2 ** 31;

/** Any statement that fails while another process holds the lock exclusively. */
const probe = "select count(*) from sqlite_schema";

export interface Lock {
  /**
   * To be called before each write. If the lock file was removed, the lock is taken again.
   * @throws FileError `locked` if another process has it now; `unwritable`
   */
  requireHeld(): void;
  release(): void;
  /** Releases the lock and removes its files. */
  releaseAndRemove(): void;
}

export interface LockRequest {
  /** ISO 8601; shown to a process that finds the lock taken. */
  readonly startedAt: string;
  /** The beginning of the message if the lock is taken, such as "The mirror x.sqlite is in use". */
  readonly busyMessage: string;
}

/**
 * Takes the lock of `file` for this process alone. The file itself is not touched.
 * @throws FileError `locked`, naming the holder; `unwritable`; `not-a-file` for a link or pipe in the place of its files
 */
export function takeLock(file: string, { startedAt, busyMessage }: LockRequest): Lock {
  const { lockFile, holderFile } = pathsOf(file);
  const hold = (): HeldFile => {
    const held = openAndHold(file, busyMessage, (opened) => {
      // A journal in memory: the file stays empty, and no other file appears beside it.
      opened.pragma("journal_mode = MEMORY");
      opened.exec("begin exclusive");
    });
    try {
      const holder = { pid: process.pid, host: hostname(), startedAt };
      // A new file: an existing one may be a link, or readable by others.
      tryRemove(holderFile);
      writeFileSync(holderFile, JSON.stringify(holder), { flag: "wx", mode: 0o600 });
      return held;
    } catch (error) {
      // On a full disk, the holder's file is there, but empty.
      const isOwn = idOf(lockFile) === held.id;
      if (isOwn) tryRemove(holderFile);
      if (isOwn && held.isNew) removeAndClose(held);
      else held.db.close();
      throw toLockError(error, lockFile);
    }
  };
  // Windows cannot remove an open file. Elsewhere it goes first, so that a waiting process notices.
  const removeAndClose = ({ db }: HeldFile): void => {
    if (process.platform !== "win32") tryRemove(lockFile);
    db.close();
    if (process.platform === "win32") tryRemove(lockFile);
  };
  let held = hold();
  const isHeld = () => idOf(lockFile) === held.id;
  // Without the lock, the name of the holder is that of another process.
  const removeHolder = () => isHeld() && tryRemove(holderFile);
  return {
    requireHeld() {
      if (isHeld()) return;
      const { db } = held;
      held = hold();
      // Not before: a lost lock stays lost for `release`.
      db.close();
    },
    release() {
      removeHolder();
      held.db.close();
    },
    releaseAndRemove() {
      const removes = isHeld();
      removeHolder();
      if (removes) removeAndClose(held);
      else held.db.close();
    },
  };
}

/**
 * Shares the lock of `file` with other processes; while it is shared, `takeLock` fails. Releasing leaves the lock
 * file in place, since other processes may hold it.
 * @throws as `takeLock`
 */
export function shareLock(file: string, busyMessage: string): Pick<Lock, "release"> {
  const { db } = openAndHold(file, busyMessage, (opened) => {
    opened.exec("begin");
    opened.prepare(probe).get();
  });
  // No process holds it alone now: the name of a holder is that of a killed process.
  tryRemove(pathsOf(file).holderFile);
  return { release: () => void db.close() };
}

/** Whether some process holds the lock of `file` alone. True also where the lock file cannot be read. */
export function isLocked(file: string): boolean {
  const { lockFile } = pathsOf(file);
  // No process can hold anything but a regular file.
  if (!lstatSync(lockFile, { throwIfNoEntry: false })?.isFile()) return false;
  let db: Database.Database | null = null;
  try {
    db = new Database(lockFile, { readonly: true, timeout: 0 });
    db.prepare(probe).get();
    return false;
  } catch {
    return true;
  } finally {
    db?.close();
  }
}

/** Whether this machine has a process of that id. */
export function isProcessAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // It exists, but belongs to another user.
    return hasCode(error, "EPERM");
  }
}

/** What stays in the place of such a file does no harm: the lock itself ends with its connection. */
function tryRemove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It does not exist, or cannot be removed.
  }
}

function pathsOf(file: string) {
  const target = targetOf(file);
  return { lockFile: `${target}.lock`, holderFile: `${target}.holder.json` };
}

/** A link has the lock of its target. */
function targetOf(file: string): string {
  try {
    return lstatSync(file).isSymbolicLink() ? realpathSync(file) : file;
  } catch {
    // There is none, or it may not be read: then the lock file cannot be opened, either.
    return file;
  }
}

interface HeldFile {
  readonly db: Database.Database;
  readonly id: string;
  /** Whether this call created the file. */
  readonly isNew: boolean;
}

function openAndHold(file: string, busyMessage: string, hold: (db: Database.Database) => void): HeldFile {
  const { lockFile, holderFile } = pathsOf(file);
  const opened = openLockFile(lockFile);
  const { db, id } = opened;
  try {
    hold(db);
  } catch (error) {
    db.close();
    if (!hasCode(error, "SQLITE_BUSY")) throw toLockError(error, lockFile);
    throw new FileError(
      "locked",
      `${busyMessage} by ${describeHolder(holderFile)}.`,
      "Wait until it has finished, or stop it.",
    );
  }
  if (idOf(lockFile) === id) return opened;
  // Its holder removed the file in the meantime: another process may hold a lock on a new file of this name.
  db.close();
  return openAndHold(file, busyMessage, hold);
}

function openLockFile(lockFile: string): HeldFile {
  for (let attempt = 1; ; attempt++) {
    try {
      const isNew = createPrivately(lockFile);
      requireOwnFile(lockFile);
      // SQLite would open a pipe in the place of its journal, and wait for ever.
      requireDatabaseFile(lockFile);
      const id = idOf(lockFile);
      if (id !== null)
        return { id, isNew, db: new Database(lockFile, { timeout: busyTimeoutMillis, fileMustExist: true }) };
    } catch (error) {
      // Its holder may have removed it in between.
      if (!hasCode(error, "SQLITE_CANTOPEN") || attempt >= maxAttempts) throw toLockError(error, lockFile);
    }
  }
}

/** Identifies the file that has this name now, also against a later one with the same inode number. */
function idOf(file: string): string | null {
  const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.ino}.${stats.mtimeNs}`;
}

/**
 * Creates the lock file unless it exists; then it returns false. It never opens an existing one: closing that would end a lock that this same
 * process may hold on it. The file is never written, so a random modification time identifies it.
 */
function createPrivately(file: string): boolean {
  try {
    const handle = openSync(file, "wx", 0o600);
    const time = Math.random() * maxSeconds;
    futimesSync(handle, time, time);
    closeSync(handle);
    return true;
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    return false;
  }
}

function describeHolder(holderFile: string): string {
  try {
    const { pid, host, startedAt } = JSON.parse(readRegularFile(holderFile, maxHolderBytes).toString());
    return `process ${pid} on ${host} since ${startedAt}`;
  } catch {
    return "another process";
  }
}

/** Turns an error of the system or of SQLite into a FileError; returns any other error as it is. */
function toLockError(error: unknown, lockFile: string): unknown {
  if (!(error instanceof Error) || !("code" in error) || error instanceof FileError) return error;
  return new FileError(
    "unwritable",
    `Cannot create or open the lock file ${lockFile} (${error.code}).`,
    "Check the folder, its permissions and free space.",
    { cause: error },
  );
}
