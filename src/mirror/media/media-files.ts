/**
 * The downloaded pictures, in the folder `media` beside the mirror. The name of a file is the SHA-256 of its content, never a
 * name from the service. Files are written atomically and only their owner can read them.
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
import { sql } from "kysely";
import { replaceFile } from "../../platform/atomic-file.ts";
import { makeFolders, removeFile } from "../../platform/folders.ts";
import { MirrorError } from "../file/errors.ts";
import { prepare, q } from "../file/statements.ts";
import type { MirrorReader } from "../reader.ts";

export const mediaFolder = (mirrorFile: string): string => join(dirname(mirrorFile), "media");

/** @param sha256 lower-case hexadecimal */
export const mediaFile = (mirrorFile: string, sha256: string): string =>
  join(mediaFolder(mirrorFile), sha256);

/** Writes a picture durably. @returns its SHA-256, in lower-case hexadecimal @throws MirrorError `unwritable`, a system error */
export function storePicture(mirrorFile: string, bytes: Uint8Array): string {
  const folder = mediaFolder(mirrorFile);
  makePrivateFolder(folder, mirrorFile);
  const sha256 = hash("sha256", bytes);
  replaceFile(join(folder, sha256), bytes);
  return sha256;
}

function makePrivateFolder(folder: string, mirrorFile: string): void {
  makeFolders(folder);
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) {
    throw new MirrorError(
      "unwritable",
      mirrorFile,
      `${folder} is a symbolic link or a file, so pictures are not stored there`,
      "Move it away; Armoire then creates the folder.",
    );
  }
  if ((stats.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** Whether the file exists and has this size. */
export function hasPicture(mirrorFile: string, sha256: string, size: number): boolean {
  const stats = lstatSync(mediaFile(mirrorFile, sha256), { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size === size;
}

/** Reads a regular file; null if there is none. @throws a system error if it cannot be read */
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

export interface StoredPicture {
  /** In lower-case hexadecimal. */
  readonly sha256: string;
  /** For example `image/png`. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Reads every downloaded picture once, in the order of their SHA-256. @throws MirrorError `damaged` */
export function* eachPicture({ db, file }: MirrorReader): Generator<StoredPicture> {
  const select = prepare(db, () =>
    q
      .selectFrom("_media_file")
      .select(sql<string>`lower(hex(sha256))`.as("hex"))
      .select(({ fn }) => fn.min("type").as("type"))
      .groupBy("sha256")
      .orderBy("sha256"),
  );
  for (const { hex: sha256, type } of select.iterate()) {
    const bytes = readPicture(file, sha256);
    if (bytes === null || hash("sha256", bytes) !== sha256)
      throw damagedPictureError(mediaFile(file, sha256), bytes === null);
    yield { sha256, type, bytes };
  }
}

function damagedPictureError(picture: string, isMissing: boolean): MirrorError {
  const message = isMissing ? "A picture is missing" : "A picture does not match its SHA-256";
  const first = isMissing ? "Run" : "Delete it, then run";
  return new MirrorError(
    "damaged",
    picture,
    message,
    `${first} \`armoire sync --account NAME --media\` to download it again.`,
  );
}

/** Pictures that are restored together with a mirror, and removed again if that fails. */
export interface RestoredPictures {
  /** Stores a picture. */
  readonly put: (bytes: Uint8Array) => void;
  /** Removes the stored pictures, but not those that existed before; no error if that fails. */
  readonly undo: () => void;
}

/** A folder `media` that Armoire did not create stays untouched. @throws MirrorError `exists` if there is one */
export function prepareRestoredPictures(mirrorFile: string): RestoredPictures {
  const folder = mediaFolder(mirrorFile);
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats !== undefined && !isMediaFolder(folder, stats)) {
    throw new MirrorError(
      "exists",
      folder,
      "Nothing was restored: the folder for pictures exists, and Armoire did not create it",
      "Restore into another folder with --mirror FILE.",
    );
  }
  const before = new Set(stats === undefined ? [] : readdirSync(folder));
  const stored = new Set<string>();
  return {
    put: (bytes) => void stored.add(storePicture(mirrorFile, bytes)),
    undo() {
      try {
        for (const sha256 of stored) if (!before.has(sha256)) removeFile(mediaFile(mirrorFile, sha256));
        if (stats === undefined) rmSync(folder, { recursive: true, force: true });
      } catch {
        // The error that it follows is the one to report. The next restore uses the pictures that are left.
      }
    },
  };
}

const pictureName = /^[0-9a-f]{64}(\.new)?$/;

/** Only its owner can read it, and all names in it are those of pictures. */
const isMediaFolder = (folder: string, stats: Stats): boolean =>
  stats.isDirectory() &&
  (process.platform === "win32" || (stats.mode & 0o077) === 0) &&
  readdirSync(folder).every((name) => pictureName.test(name));
