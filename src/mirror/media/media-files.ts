/**
 * The downloaded pictures, in the folder `media` beside the mirror. The name of a file is the SHA-256 of its content and the
 * ending of its type, never a name from the service. Files are written atomically and only their owner can read them.
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
import { pictureName, sha256OfPictureName } from "../../../schema/entities/picture-types.ts";
import { replaceFile } from "../../platform/atomic-file.ts";
import { makeFolders, removeFile } from "../../platform/folders.ts";
import type { Connection } from "../file/connection.ts";
import { MirrorError } from "../file/errors.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import type { MirrorReader } from "../reader.ts";

export const mediaFolder = (mirrorFile: string): string => join(dirname(mirrorFile), "media");

/** The content and the media type of a picture. */
export interface PictureKey {
  /** In lower-case hexadecimal. */
  readonly sha256: string;
  /** For example `image/png`. */
  readonly type: string;
}

export const mediaFile = (mirrorFile: string, { sha256, type }: PictureKey): string =>
  join(mediaFolder(mirrorFile), pictureName(sha256, type));

/** Writes a picture durably. @returns its SHA-256, in lower-case hexadecimal @throws MirrorError `unwritable`, a system error */
export function storePicture(mirrorFile: string, bytes: Uint8Array, type: string): string {
  makePrivateFolder(mediaFolder(mirrorFile), mirrorFile);
  const sha256 = hash("sha256", bytes);
  replaceFile(mediaFile(mirrorFile, { sha256, type }), bytes);
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
export function hasPicture(mirrorFile: string, picture: PictureKey, size: number): boolean {
  const stats = lstatSync(mediaFile(mirrorFile, picture), { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size === size;
}

/** Reads a regular file; null if there is none. @throws a system error if it cannot be read */
export function readPicture(mirrorFile: string, picture: PictureKey): Buffer | null {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = mediaFile(mirrorFile, picture);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const handle = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return fstatSync(handle).isFile() ? readFileSync(handle) : null;
  } finally {
    closeSync(handle);
  }
}

/** Every downloaded picture once, in the order of their SHA-256. */
export function listStoredPictures(db: Connection): Iterable<PictureKey> {
  const select = prepare(db, () =>
    q
      .selectFrom("_media_file as f")
      .select(sql<string>`lower(hex(f.sha256))`.as("sha256"))
      .select(({ fn }) => fn.min("f.type").as("type"))
      .groupBy("f.sha256")
      .orderBy("f.sha256"),
  );
  return select.iterate();
}

export interface StoredPicture extends PictureKey {
  readonly bytes: Buffer;
}

/** Reads every downloaded picture once, in the order of their SHA-256. @throws MirrorError `damaged` */
export function* eachPicture({ db, file }: MirrorReader): Generator<StoredPicture> {
  for (const picture of listStoredPictures(db)) {
    const bytes = readPicture(file, picture);
    if (bytes === null || hash("sha256", bytes) !== picture.sha256)
      throw damagedPictureError(mediaFile(file, picture), bytes === null);
    yield { ...picture, bytes };
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
  readonly put: (bytes: Uint8Array, type: string) => void;
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
    put: (bytes, type) => void stored.add(pictureName(storePicture(mirrorFile, bytes, type), type)),
    undo() {
      try {
        for (const name of stored) if (!before.has(name)) removeFile(join(folder, name));
        if (stats === undefined) rmSync(folder, { recursive: true, force: true });
      } catch {
        // The error that it follows is the one to report. The next restore uses the pictures that are left.
      }
    },
  };
}

/** Only its owner can read it, and all names in it are those of pictures. */
const isMediaFolder = (folder: string, stats: Stats): boolean =>
  stats.isDirectory() &&
  (process.platform === "win32" || (stats.mode & 0o077) === 0) &&
  readdirSync(folder).every((name) => sha256OfPictureName(name.replace(/\.new$/, "")) !== null);
