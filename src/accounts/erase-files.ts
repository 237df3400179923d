/**
 * Erasing what must not be found again: each file is overwritten before its name goes. On an SSD, and on file systems that
 * write a changed block to a new place, the old bytes may survive that; only an encrypted disk promises more.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { syncFolder } from "../mirror/file/sync-folder.ts";
import { hasCode } from "../mirror/file/system-error.ts";

const zeros = Buffer.alloc(1_048_576);

/**
 * Erases everything in a folder but the files named. What a symbolic link leads to is left alone.
 * @throws a system error; what was erased till then is gone
 */
export function eraseFolder(folder: string, but: readonly string[] = []): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (but.includes(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      eraseFolder(path);
      rmdirSync(path);
      continue;
    }
    if (entry.isFile()) overwrite(path);
    rmSync(path, { force: true });
  }
  syncFolder(folder);
}

/** Overwrites a file and takes it away; well also where it is not there. @throws a system error */
export function eraseFile(file: string): void {
  try {
    overwrite(file);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
  rmSync(file, { force: true });
}

function overwrite(file: string): void {
  const { O_WRONLY, O_NOFOLLOW = 0 } = constants;
  const handle = openSync(file, O_WRONLY | O_NOFOLLOW);
  try {
    const { size } = fstatSync(handle);
    for (let at = 0; at < size; ) at += writeSync(handle, zeros, 0, Math.min(zeros.length, size - at), at);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
