/**
 * One writer a mirror. The lock is an exclusive transaction on a small SQLite file beside it: the operating system ends
 * it with the process, however that dies, so there are no stale locks. Who holds it stands in a second small file, which
 * is only ever information.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { MirrorError } from "./errors.ts";

export interface Lock {
  release(): void;
}

/** @throws MirrorError `locked`, naming the holder; `unwritable` */
export function takeLock(file: string, startedAt: string): Lock {
  const lockFile = `${file}.lock`;
  const holderFile = `${file}.holder.json`;
  const db = openLockFile(lockFile, file);
  try {
    db.exec("begin exclusive");
  } catch (error) {
    db.close();
    if (!(error instanceof Error && "code" in error && error.code === "SQLITE_BUSY")) throw error;
    throw new MirrorError(
      "locked",
      file,
      `The mirror is in use by ${describeHolder(holderFile)}`,
      "Wait until it has finished, or stop it.",
    );
  }
  writeFileSync(holderFile, JSON.stringify({ pid: process.pid, host: hostname(), startedAt }), {
    mode: 0o600,
  });
  return {
    release() {
      rmSync(holderFile, { force: true });
      db.close();
    },
  };
}

function openLockFile(lockFile: string, file: string): Database.Database {
  try {
    // A rollback journal in memory: the file itself stays empty, and no other file appears beside it.
    const db = new Database(lockFile, { timeout: 0 });
    db.pragma("journal_mode = MEMORY");
    return db;
  } catch (error) {
    throw new MirrorError(
      "unwritable",
      file,
      "Cannot write in the mirror's folder",
      "Check the folder and its permissions.",
      { cause: error },
    );
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
