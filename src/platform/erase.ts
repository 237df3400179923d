/**
 * Erasing private files: each is overwritten before it is removed. SSDs and copy-on-write file systems may keep the old
 * bytes elsewhere; only an encrypted disk protects against that.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  rmdirSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { hasCode } from "./errors.ts";
import { removeFile, syncFolder } from "./folders.ts";

const zeros = Buffer.alloc(1_048_576);

/**
 * Erases everything in a folder except the named files. Targets of symbolic links are left alone.
 * @throws a system error; files erased until then are gone
 */
export function eraseFolder(folder: string, except: readonly string[] = []): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (except.includes(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      eraseFolder(path);
      rmdirSync(path);
      continue;
    }
    if (entry.isFile()) overwrite(path);
    removeFile(path);
  }
  syncFolder(folder);
}

/** Overwrites and removes a file, if it exists. @throws a system error */
export function eraseFile(file: string): void {
  try {
    overwrite(file);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
  removeFile(file);
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
