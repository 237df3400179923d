import { rmdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** Takes back a mirror that was made and got nothing: a misspelt base URL should leave no trace. It must be closed. */
export function removeEmptyMirror(file: string): void {
  for (const suffix of ["", "-wal", "-shm", ".lock"]) rmSync(file + suffix, { force: true });
  try {
    rmdirSync(dirname(file));
  } catch {
    // There are other things in the folder.
  }
}
