/** Tells a read that failed from damage: SQLite reports both as a malformed file. */
import { closeSync, openSync, readSync } from "node:fs";
import Database from "better-sqlite3";
import { hasCode, isSystemError } from "../../platform/errors.ts";

/**
 * Whether an error of SQLite that speaks of damage came from a read that failed. Reads the whole file.
 * @returns why, such as EIO; null if the file is damaged, or the error is another one
 */
export function readFailureOf(error: unknown, file: string): string | null {
  return hasCode(error, "SQLITE_CORRUPT") ? readFailureIn(file) : null;
}

/**
 * Why a sound file seemed damaged. Reads the whole file.
 * @returns such as EIO; null if the file is damaged
 */
export function readFailureIn(file: string): string | null {
  try {
    readThrough(file);
  } catch (failure) {
    return isSystemError(failure) ? (failure.code ?? "I/O error") : null;
  }
  return isSound(file) ? "a read failed" : null;
}

function readThrough(file: string): void {
  const handle = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(1_048_576);
    while (readSync(handle, buffer) > 0);
  } finally {
    closeSync(handle);
  }
}

/**
 * What SQLite's own check of a file finds. Its check of everything leaves out the list of free pages if the first of the tables
 * and views, in no certain order, is a view; its check of the schema alone does not.
 */
export function readIntegrityProblems(db: Database.Database): string[] {
  const found = ["integrity_check", "integrity_check(sqlite_schema)"].flatMap(
    (check) => db.pragma(check) as { integrity_check: string }[],
  );
  const messages = found.map(({ integrity_check: message }) => message);
  return [...new Set(messages)].filter((message) => message !== "ok");
}

function isSound(file: string): boolean {
  try {
    const db = new Database(file, { readonly: true, fileMustExist: true });
    try {
      return readIntegrityProblems(db).length === 0;
    } finally {
      db.close();
    }
  } catch {
    return false;
  }
}
