/**
 * One writer a mirror. The lock is an exclusive transaction on a small SQLite file beside it: the operating system ends
 * it with the process, however that dies, so there are no stale locks. Who holds it stands in a second small file, which
 * is only ever information.
 */
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { MirrorError, toMirrorError } from "./errors.ts";

/** Longer than somebody who only looks whether there is a lock is in the way of taking it. */
const lookMillis = 100;

export interface Lock {
  release(): void;
  /** Releases it, and takes its files away. */
  releaseAndRemove(): void;
}

/** @throws MirrorError `locked`, naming the holder; `unwritable` */
export function takeLock(file: string, startedAt: string): Lock {
  const lockFile = `${file}.lock`;
  const holderFile = `${file}.holder.json`;
  const { db, id } = openLockFile(lockFile);
  try {
    // A rollback journal in memory: the file itself stays empty, and no other file appears beside it.
    db.pragma("journal_mode = MEMORY");
    db.exec("begin exclusive");
    // Whoever held it may have removed it since: then this is no lock, and another process may have the next one.
    if (idOf(lockFile) !== id) {
      db.close();
      return takeLock(file, startedAt);
    }
    const holder = { pid: process.pid, host: hostname(), startedAt };
    // Made anew, so that nothing is written where somebody's link leads, nor into a file that others may read.
    rmSync(holderFile, { force: true });
    writeFileSync(holderFile, JSON.stringify(holder), { flag: "wx", mode: 0o600 });
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

/** Whether some process writes the mirror, as far as can be told: where the lock cannot be read, that is not ruled out. */
export function isLocked(file: string): boolean {
  const lockFile = `${file}.lock`;
  if (!existsSync(lockFile)) return false;
  let db: Database.Database | null = null;
  try {
    db = new Database(lockFile, { readonly: true, timeout: 0 });
    db.prepare("select count(*) from sqlite_schema").get();
    return false;
  } catch {
    return true;
  } finally {
    db?.close();
  }
}

function openLockFile(lockFile: string): { db: Database.Database; id: bigint | undefined } {
  try {
    createPrivately(lockFile);
    return { id: idOf(lockFile), db: new Database(lockFile, { timeout: lookMillis }) };
  } catch (error) {
    throw toMirrorError(error, lockFile);
  }
}

/** Of the file that has the name now. */
function idOf(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Never opens a file that is there: closing it again would end the lock that this very process may hold on it. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function describeHolder(holderFile: string): string {
  try {
    const { pid, host, startedAt } = JSON.parse(readFileSync(holderFile, "utf8"));
    return `process ${pid} on ${host} since ${startedAt}`;
  } catch {
    return "another process";
  }
}
