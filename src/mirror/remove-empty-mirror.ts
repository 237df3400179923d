import { rmdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { FileError } from "../platform/errors.ts";
import type { Lock } from "../platform/process-lock.ts";
import { lockMirror } from "./file/connection.ts";
import { MirrorError } from "./file/errors.ts";
import { readMirror } from "./reader.ts";

/**
 * Takes back a mirror that was made and got nothing: a misspelt base URL should leave no trace. It must be closed; where
 * another process writes it by now, or has, it stays.
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
  if (!holdsNothing(file)) {
    lock.release();
    return;
  }
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
  lock.releaseAndRemove();
  try {
    rmdirSync(dirname(file));
  } catch {
    // There are other things in the folder.
  }
}

/** What cannot be read may hold anything. */
function holdsNothing(file: string): boolean {
  try {
    return readMirror(file, ({ db }) => db.prepare("select 1 from _revision limit 1").get() === undefined);
  } catch (error) {
    if (error instanceof MirrorError) return false;
    throw error;
  }
}
