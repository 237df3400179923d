/** Creates mirrors, and removes ones that stayed empty. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { publish, syncFile } from "../../platform/atomic-file.ts";
import { FileError } from "../../platform/errors.ts";
import { requireOwnFile } from "../../platform/files/regular-files.ts";
import { makeFolders, removeFile } from "../../platform/folders.ts";
import type { Lock } from "../../platform/process-lock.ts";
import { q } from "../queries/query-builder.ts";
import { type Connection, closeWritten, lockMirror, openForReading, openForWriting } from "./connection.ts";
import { MirrorError, toMirrorError, toOpeningError } from "./errors.ts";
import { ensureMirrorId, type MirrorIdentity, writeIdentity } from "./meta.ts";
import { migrateMirror } from "./migrate.ts";
import { prepareColumn } from "./statements.ts";

const temporaryMark = ".new-";

/**
 * Creates a mirror under a temporary name and renames it when it is complete: a killed process leaves no partial
 * mirror. The caller holds the lock.
 * @param fill inserts the initial data; default: none
 * @throws FileError `not-a-file` for a link, which may lead to a disk that is not mounted; MirrorError, and the errors of
 * `fill`: then there is no mirror
 */
export async function createMirror(
  file: string,
  identity: MirrorIdentity,
  fill: (db: Connection) => Promise<void> = async () => {},
): Promise<void> {
  requireOwnFile(file);
  removeTemporaryFiles(file);
  // A random name, so that no other user can place a file or link there.
  const temporary = `${file}${temporaryMark}${randomBytes(6).toString("hex")}`;
  try {
    const db = openForWriting(temporary, { isPrivate: identity.area === "account" });
    try {
      await migrateMirror(db);
      writeIdentity(db, identity);
      await fill(db);
      ensureMirrorId(db);
    } catch (error) {
      db.close();
      throw error;
    }
    closeWritten(db);
    requireNoLog(temporary, file);
    syncFile(temporary);
    renameOrphanedLogs(file);
    publish(temporary, file);
  } catch (error) {
    removeDatabase(temporary);
    throw error;
  }
}

/**
 * Removes a mirror without any data, its lock and its empty folder, so that a misspelled base URL leaves no trace.
 * The mirror must be closed; it stays if another process writes it or has written to it.
 * @param startedAt ISO 8601
 */
export function removeEmptyMirror(file: string, startedAt: string): void {
  let lock: Lock;
  try {
    lock = lockMirror(file, startedAt);
  } catch (error) {
    if (error instanceof FileError) return;
    throw error;
  }
  if (!isEmpty(file)) {
    lock.release();
    return;
  }
  removeDatabase(file);
  leavePlace(lock, file);
}

/** Releases the lock; without a mirror, the files of the lock and an empty folder are removed too. */
export function leavePlace(lock: Lock, file: string): void {
  if (existsSync(file)) {
    lock.release();
    return;
  }
  lock.releaseAndRemove();
  try {
    rmdirSync(dirname(file));
  } catch {
    // The folder contains other files, or is gone.
  }
}

/** An unreadable file may contain anything. */
function isEmpty(file: string): boolean {
  try {
    const db = openForReading(file);
    try {
      return prepareColumn(db, () => q.selectFrom("_revision").select("seq").limit(1)).get() === undefined;
    } finally {
      db.close();
    }
  } catch (error) {
    if (toOpeningError(error, file) instanceof MirrorError) return false;
    throw error;
  }
}

/** Removes the files of killed processes; the holder of the lock is the only live one. */
function removeTemporaryFiles(file: string): void {
  const prefix = `${basename(file)}${temporaryMark}`;
  for (const name of readdirSync(dirname(file)).filter((name) => name.startsWith(prefix))) {
    try {
      removeFile(join(dirname(file), name));
    } catch {
      // A folder, or a file of another user. It does not collide with a new name.
    }
  }
}

/** Without its log, only the file itself is renamed: what is in a log would be lost. */
function requireNoLog(temporary: string, file: string): void {
  if (!existsSync(`${temporary}-wal`)) return;
  throw new MirrorError(
    "unwritable",
    file,
    "The new mirror could not be written completely",
    "Check the disk and try again.",
  );
}

/** If only the main file of an earlier mirror was moved away, SQLite would replay its log into the new one. */
function renameOrphanedLogs(file: string): void {
  for (const log of [`${file}-wal`, `${file}-journal`]) {
    if (!existsSync(log)) continue;
    let n = 1;
    while (existsSync(`${log}.orphan-${n}`)) n++;
    renameSync(log, `${log}.orphan-${n}`);
  }
  removeFile(`${file}-shm`);
}

function removeDatabase(file: string): void {
  for (const suffix of ["", "-wal", "-shm"]) removeFile(file + suffix);
}

/**
 * Creates the mirror if there is none. `openMirrorWriter` does the same; this is for callers that wait for something
 * else at the same time.
 * @throws MirrorError; FileError `locked`; errors of `requirePlace`
 */
export async function makeMirror(place: MirrorPlace & { readonly identity: MirrorIdentity }): Promise<void> {
  const { file, identity } = place;
  if (existsSync(file)) return;
  const lock = lockPlace(place);
  try {
    if (!existsSync(file)) await createMirror(file, identity);
  } catch (error) {
    throw toOpeningError(error, file);
  } finally {
    lock.release();
  }
}

export interface MirrorPlace {
  readonly file: string;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /**
   * Throws if there must be no mirror at this place any more, as after the removal of an account. Checked once the mirror
   * is locked, since the owner of the place removes it under the same lock. Then the folder must exist. Default: any place
   * will do, and a missing folder is created.
   */
  readonly requirePlace?: () => void;
}

/** Locks a mirror that may not exist yet. @throws MirrorError; FileError `locked`; errors of `requirePlace` */
export function lockPlace({ file, openedAt, requirePlace }: MirrorPlace): Lock {
  if (requirePlace === undefined) {
    createFolderOf(file);
    return lockMirror(file, openedAt);
  }
  requirePlace();
  let lock: Lock;
  try {
    lock = lockMirror(file, openedAt);
  } catch (error) {
    // The folder may have been removed in between.
    requirePlace();
    throw error;
  }
  try {
    requirePlace();
    return lock;
  } catch (error) {
    leavePlace(lock, file);
    throw error;
  }
}

/** Creates the folder of a mirror. @throws MirrorError */
function createFolderOf(file: string): void {
  try {
    makeFolders(dirname(file));
  } catch (error) {
    throw toMirrorError(error, file);
  }
}
