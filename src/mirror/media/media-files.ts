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
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
} from "node:fs";
import { dirname, join } from "node:path";
import { replaceFile } from "../../platform/atomic-file.ts";
import { makeFolders } from "../../platform/folders.ts";
import { MirrorError } from "../file/errors.ts";
import type { MirrorReader } from "../reader.ts";

export const mediaFolder = (mirrorFile: string): string => join(dirname(mirrorFile), "media");

/** @param sha256 lower-case hexadecimal */
export const mediaFile = (mirrorFile: string, sha256: string): string =>
  join(mediaFolder(mirrorFile), sha256);

/** @returns the SHA-256, in lower-case hexadecimal @throws MirrorError `unwritable`, a system error */
export function storePicture(mirrorFile: string, bytes: Uint8Array): string {
  const folder = mediaFolder(mirrorFile);
  makeFolder(folder, mirrorFile);
  const sha256 = hash("sha256", bytes);
  replaceFile(join(folder, sha256), bytes);
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

export interface StoredPicture {
  /** In lower-case hexadecimal. */
  readonly sha256: string;
  /** Such as `image/png`. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Every picture that was ever downloaded, each once, in the order of their SHA-256. @throws MirrorError `damaged` */
export function* eachPicture({ db, file }: MirrorReader): Generator<StoredPicture> {
  const select = db.prepare<[], Omit<StoredPicture, "bytes">>(
    "select lower(hex(sha256)) as sha256, min(type) as type from _media_file group by sha256 order by 1",
  );
  for (const { sha256, type } of select.iterate()) {
    const bytes = readPicture(file, sha256);
    if (bytes === null || hash("sha256", bytes) !== sha256)
      throw damaged(mediaFile(file, sha256), bytes === null);
    yield { sha256, type, bytes };
  }
}

function damaged(picture: string, isMissing: boolean): MirrorError {
  const what = isMissing ? "A picture is missing" : "A picture is not what was downloaded";
  const first = isMissing ? "" : "Take it away; ";
  const command = "`armoire sync --account NAME --media`";
  return new MirrorError(
    "damaged",
    picture,
    what,
    `${first}${command} downloads it again, where it still is.`,
  );
}

/**
 * Pictures that are put back with a mirror: into a folder of ours or a new one, and out of it again where the mirror does not
 * come to be. What else is called `media` beside it is somebody's, and stays as it is.
 */

export interface RestoredPictures {
  /** Keeps a picture in the folder beside the mirror. */
  readonly put: (bytes: Uint8Array) => void;
  /** Takes away what was not there before. */
  readonly undo: () => void;
}

/** @throws MirrorError `exists` where the folder is not one that we made */
export function prepareRestoredPictures(mirrorFile: string): RestoredPictures {
  const folder = mediaFolder(mirrorFile);
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats !== undefined && !isOurs(folder, stats)) {
    throw new MirrorError(
      "exists",
      folder,
      "The pictures would go into a folder that Armoire has not made, and nothing was restored",
      "Restore to a file in a folder of its own with --mirror FILE.",
    );
  }
  const before = new Set(stats === undefined ? [] : readdirSync(folder));
  const put = new Set<string>();
  return {
    put: (bytes) => void put.add(storePicture(mirrorFile, bytes)),
    undo() {
      for (const sha256 of put)
        if (!before.has(sha256)) rmSync(mediaFile(mirrorFile, sha256), { force: true });
      if (stats === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const pictureName = /^[0-9a-f]{64}(\.new)?$/;

/** For its owner alone, and with nothing in it but what is called as pictures are. */
const isOurs = (folder: string, stats: Stats): boolean =>
  stats.isDirectory() &&
  (process.platform === "win32" || (stats.mode & 0o077) === 0) &&
  readdirSync(folder).every((name) => pictureName.test(name));
