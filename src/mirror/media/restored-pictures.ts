/**
 * Pictures that are put back with a mirror: into a folder of ours or a new one, and out of it again where the mirror does not
 * come to be. What else is called `media` beside it is somebody's, and stays as it is.
 */
import { lstatSync, readdirSync, rmSync, type Stats } from "node:fs";
import { MirrorError } from "../file/errors.ts";
import { mediaFile, mediaFolder, storePicture } from "./media-files.ts";

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
