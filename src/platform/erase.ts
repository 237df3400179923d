/**
 * Erasing private files: each is overwritten before it is removed. SSDs and copy-on-write file systems may keep the old
 * bytes elsewhere; only an encrypted disk protects against that. A file with further hard links is removed only: to
 * overwrite it would destroy its copies under the other names, which `cp -al` makes for instance.
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
import { sep } from "node:path";
import { hasCode } from "./errors.ts";
import { removeFile, syncFolder } from "./folders.ts";

const zeros = Buffer.alloc(1_048_576);

/**
 * Erases everything in a folder except the named files. Targets of symbolic links are left alone.
 * @returns the paths of the files that were not overwritten, since they have further hard links
 * @throws a system error; files erased until then are gone
 */
export function eraseFolder(folder: string | Buffer, except: readonly string[] = []): string[] {
  const linked: string[] = [];
  // Names as bytes: another program may have made a file whose name is not UTF-8.
  for (const entry of readdirSync(folder, { withFileTypes: true, encoding: "buffer" })) {
    if (except.includes(entry.name.toString())) continue;
    const path = Buffer.concat([Buffer.from(folder), Buffer.from(sep), entry.name]);
    if (entry.isDirectory()) {
      linked.push(...eraseFolder(path));
      rmdirSync(path);
      continue;
    }
    if (entry.isFile() && !overwrite(path)) linked.push(path.toString());
    removeFile(path);
  }
  syncFolder(folder);
  return linked;
}

/**
 * Overwrites and removes a file, if it exists.
 * @returns false if it was not overwritten, since it has further hard links
 * @throws a system error
 */
export function eraseFile(file: string): boolean {
  let isOverwritten = true;
  try {
    isOverwritten = overwrite(file);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
  removeFile(file);
  return isOverwritten;
}

/** @returns false for a file with further hard links, which is left unchanged */
function overwrite(file: string | Buffer): boolean {
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  const { O_WRONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let handle: number;
  try {
    handle = openSync(file, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    // A pipe or socket, which has no content.
    if (hasCode(error, "ENXIO")) return true;
    throw error;
  }
  try {
    const { size, nlink } = fstatSync(handle);
    if (nlink > 1) return false;
    for (let at = 0; at < size; ) at += writeSync(handle, zeros, 0, Math.min(zeros.length, size - at), at);
    fsyncSync(handle);
    return true;
  } finally {
    closeSync(handle);
  }
}
