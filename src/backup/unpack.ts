/** The entries of a backup as files in a new folder, which is there as a whole or not at all. */
import { lstatSync } from "node:fs";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { makePartialFolder, recoverFolder } from "../../exports/replace-folder.ts";
import { makeFolders } from "../mirror/file/make-folders.ts";
import { syncFolder } from "../mirror/file/sync-folder.ts";
import { isSystemError } from "../mirror/file/system-error.ts";
import { writeNewFile } from "../mirror/file/write-new-file.ts";
import { BackupError } from "./backup-error.ts";
import type { VisitEntry } from "./scan-backup.ts";

/**
 * @param read shows each entry once; their names have been compared with the fixed list
 * @throws BackupError `exists`, `write-failed`; what `read` throws
 */
export async function unpackTo(folder: string, read: (visit: VisitEntry) => Promise<void>): Promise<void> {
  const place = resolve(folder);
  try {
    makeFolders(dirname(place));
    await requireEmpty(place);
    await recoverFolder(place);
    const partial = await makePartialFolder(place);
    try {
      const subfolders = new Set([partial]);
      await read(({ name, content }) => {
        const path = join(partial, name);
        makeFolders(dirname(path));
        subfolders.add(dirname(path));
        writeNewFile(path, content);
      });
      for (const subfolder of subfolders) syncFolder(subfolder);
      // What has come there meanwhile is no empty folder, and in the way.
      if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) await rmdir(place);
      await rename(partial, place);
      syncFolder(dirname(place));
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = "Make room or choose another folder; nothing was written there.";
    throw new BackupError("write-failed", `Cannot write ${place}: ${error.message}`, hint, { cause: error });
  }
}

async function requireEmpty(place: string): Promise<void> {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined || (stats.isDirectory() && (await readdir(place)).length === 0)) return;
  throw new BackupError(
    "exists",
    `There is something already: ${place}`,
    "Restore into a folder that is new or empty: a backup is never mixed with what is there.",
  );
}
