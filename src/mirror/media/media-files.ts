/**
 * The pictures' files, in a folder beside the mirror, each called what its bytes hash to. In: bytes. Out: their hash, once
 * they are durable. A file is written whole or not at all, for its owner alone, and no name comes from the service.
 */
import { hash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { MirrorError } from "../file/errors.ts";
import { makeFolders } from "../file/make-folders.ts";
import { syncFolder } from "../file/sync-folder.ts";
import { writeNewFile } from "../file/write-new-file.ts";

export const mediaFolder = (mirrorFile: string): string => join(dirname(mirrorFile), "media");

/** @param sha256 lower-case hexadecimal */
export const mediaFile = (mirrorFile: string, sha256: string): string =>
  join(mediaFolder(mirrorFile), sha256);

/** @returns the SHA-256, in lower-case hexadecimal @throws MirrorError `unwritable`, a system error */
export function storePicture(mirrorFile: string, bytes: Uint8Array): string {
  const folder = mediaFolder(mirrorFile);
  makeFolder(folder, mirrorFile);
  const sha256 = hash("sha256", bytes);
  const partial = join(folder, `${sha256}.new`);
  try {
    rmSync(partial, { force: true });
    writeNewFile(partial, bytes);
    renameSync(partial, join(folder, sha256));
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
  syncFolder(folder);
  return sha256;
}

/** Whether the file is there, and as long as it was written. */
export function hasPicture(mirrorFile: string, sha256: string, size: number): boolean {
  const stats = lstatSync(mediaFile(mirrorFile, sha256), { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size === size;
}

/** The bytes of a regular file; null where there is none. @throws a system error where it cannot be read */
export function readPicture(mirrorFile: string, sha256: string): Buffer | null {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = mediaFile(mirrorFile, sha256);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const handle = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return fstatSync(handle).isFile() ? readFileSync(handle) : null;
  } finally {
    closeSync(handle);
  }
}

function makeFolder(folder: string, mirrorFile: string): void {
  makeFolders(folder);
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) {
    throw new MirrorError(
      "unwritable",
      mirrorFile,
      `${folder} is no folder of its own, so no pictures are kept there`,
      "Move it away; a symbolic link is not followed.",
    );
  }
  if ((stats.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}
