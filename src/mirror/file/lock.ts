/**
 * One writer a mirror. The lock is an exclusive transaction on a small SQLite file beside it: the operating system ends
 * it with the process, however that dies, so there are no stale locks. Who holds it stands in a second small file, which
 * is only ever information.
 */
import {
  closeSync,
  existsSync,
  futimesSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { MirrorError, toMirrorError } from "./errors.ts";
import { hasCode } from "./system-error.ts";

/** Longer than somebody who only looks whether there is a lock is in the way of taking it. */
const lookMillis = 100;
/** To open a file that others remove and make anew. */
const mostAttempts = 1_000;
/** Of the times that every file system can note. */
const mostSeconds = 2 ** 31;

/** What cannot be read while somebody holds the lock alone. */
const someRead = "select count(*) from sqlite_schema";

export interface Lock {
  release(): void;
  /** Releases it, and takes its files away. */
  releaseAndRemove(): void;
}

/** @throws MirrorError `locked`, naming the holder; `unwritable` */
export function takeLock(file: string, startedAt: string): Lock {
  const { lockFile, holderFile } = placeOf(file);
  const db = openHeld(file, (opened) => {
    // A rollback journal in memory: the file itself stays empty, and no other file appears beside it.
    opened.pragma("journal_mode = MEMORY");
    opened.exec("begin exclusive");
  });
  try {
    const holder = { pid: process.pid, host: hostname(), startedAt };
    // Made anew, so that nothing is written where somebody's link leads, nor into a file that others may read.
    rmSync(holderFile, { force: true });
    writeFileSync(holderFile, JSON.stringify(holder), { flag: "wx", mode: 0o600 });
  } catch (error) {
    db.close();
    throw toMirrorError(error, lockFile);
  }
  return {
    release() {
      rmSync(holderFile, { force: true });
      db.close();
    },
    releaseAndRemove() {
      rmSync(holderFile, { force: true });
      // While it is held, so that whoever waits for it can tell; Windows removes no file that is open.
      if (process.platform !== "win32") rmSync(lockFile, { force: true });
      db.close();
      if (process.platform === "win32") rmSync(lockFile, { force: true });
    },
  };
}

/**
 * Held by any number of processes at a time, and by none while one has taken the lock for itself; nor can one take it while it is
 * shared. It stays where it is when it is released, since others may hold it.
 * @throws as `takeLock`
 */
export function shareLock(file: string): Pick<Lock, "release"> {
  const db = openHeld(file, (opened) => {
    opened.exec("begin");
    opened.prepare(someRead).get();
  });
  // Nobody has it alone now: what is said of one who had is said of one that was killed.
  const { lockFile, holderFile } = placeOf(file);
  try {
    rmSync(holderFile, { force: true });
  } catch (error) {
    db.close();
    throw toMirrorError(error, lockFile);
  }
  return { release: () => void db.close() };
}

/** Whether some process writes the mirror, as far as can be told: where the lock cannot be read, that is not ruled out. */
export function isLocked(file: string): boolean {
  const { lockFile } = placeOf(file);
  if (!existsSync(lockFile)) return false;
  let db: Database.Database | null = null;
  try {
    db = new Database(lockFile, { readonly: true, timeout: 0 });
    db.prepare(someRead).get();
    return false;
  } catch {
    return true;
  } finally {
    db?.close();
  }
}

function placeOf(file: string) {
  return { lockFile: `${file}.lock`, holderFile: `${file}.holder.json` };
}

/** @throws MirrorError `locked`, naming the holder; `unwritable` */
function openHeld(file: string, hold: (db: Database.Database) => void): Database.Database {
  const { lockFile, holderFile } = placeOf(file);
  const { db, id } = openLockFile(lockFile);
  try {
    hold(db);
  } catch (error) {
    db.close();
    if (!hasCode(error, "SQLITE_BUSY")) throw toMirrorError(error, lockFile);
    throw new MirrorError(
      "locked",
      file,
      `The mirror is in use by ${describeHolder(holderFile)}`,
      "Wait until it has finished, or stop it.",
    );
  }
  if (idOf(lockFile) === id) return db;
  // Whoever held it removed it since: then this is no lock, and another process may have the next one.
  db.close();
  return openHeld(file, hold);
}

function openLockFile(lockFile: string): { db: Database.Database; id: string } {
  for (let attempt = 1; ; attempt++) {
    try {
      createPrivately(lockFile);
      const id = idOf(lockFile);
      if (id !== null)
        return { id, db: new Database(lockFile, { timeout: lookMillis, fileMustExist: true }) };
    } catch (error) {
      // Perhaps it was removed in between, by whoever held it.
      if (!hasCode(error, "SQLITE_CANTOPEN") || attempt >= mostAttempts) throw toMirrorError(error, lockFile);
    }
  }
}

/** Of the file that has the name now; no file has that of another one, also where it got the number of one that is gone. */
function idOf(file: string): string | null {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.ino}.${stats.mtimeNs}`;
}

/**
 * Never opens a file that is there: closing it again would end the lock that this very process may hold on it. Nothing is
 * ever written into it, so that the time of its last change can tell it from others: that is one at random.
 */
function createPrivately(file: string): void {
  try {
    const handle = openSync(file, "wx", 0o600);
    const someTime = Math.random() * mostSeconds;
    futimesSync(handle, someTime, someTime);
    closeSync(handle);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

function describeHolder(holderFile: string): string {
  try {
    const { pid, host, startedAt } = JSON.parse(readFileSync(holderFile, "utf8"));
    return `process ${pid} on ${host} since ${startedAt}`;
  } catch {
    return "another process";
  }
}
