/** A folder of published snapshots, on this computer or at an address: its `state.json`, and where its files are. */
import { hash } from "node:crypto";
import { readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { BackupError } from "../../archive/errors.ts";
import {
  maxStateBytes,
  type PublishedState,
  parseState,
  readState,
  stateFile,
} from "../../archive/published/state.ts";
import { type DownloadSettings, downloadFile, isAddress, loadClient } from "./download-file.ts";

export interface FollowedFolder {
  readonly state: PublishedState;
  /** For messages. */
  readonly place: string;
  /** As it may be shown, with a slash at its end; null for a folder on this computer. */
  readonly address: string | null;
  /** A digest of where the folder is: mirrors are shared, and do not show a path. */
  readonly folder: string;
  /** The path or the address of one of its files. */
  fileAt(name: string): string;
}

/** @returns null for the place of a single file @throws BackupError; DownloadError; the signal's reason */
export function openFolder(place: string, settings: DownloadSettings): Promise<FollowedFolder | null> {
  return isAddress(place) ? openAddress(place, settings) : Promise.resolve(openLocal(resolve(place)));
}

function openLocal(path: string): FollowedFolder | null {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isFolder && basename(path) !== stateFile) return null;
  const folder = isFolder ? path : dirname(path);
  const state = readState(folder);
  if (state === null)
    throw new BackupError(
      "not-found",
      `There is no ${stateFile} in the folder: ${folder}`,
      "Give a folder of `armoire snapshot publish`, or the file of a snapshot.",
    );
  return {
    state,
    place: folder,
    address: null,
    folder: hash("sha256", folder),
    fileAt: (name) => join(folder, name),
  };
}

async function openAddress(given: string, settings: DownloadSettings): Promise<FollowedFolder | null> {
  const url = URL.parse(given);
  // An address that cannot be used is refused as that of a file is.
  if (url === null || url.pathname.endsWith(".zip")) return null;
  const isNamed = basename(url.pathname) === stateFile || url.pathname.endsWith("/");
  const folder = new URL(url);
  folder.pathname = folder.pathname.replace(/\/?(state\.json)?$/, "/");
  /** A query may give access to all files. */
  const fileAt = (name: string) => Object.assign(new URL(folder), { pathname: folder.pathname + name }).href;
  const { isWithheld, shownAddress } = await loadClient();
  const address = shownAddress(folder.href);
  try {
    const file = await downloadFile({ url: fileAt(stateFile), maxBytes: maxStateBytes }, settings);
    try {
      const state = parseState(readFileSync(file, "utf8"), address);
      return { state, place: address, address, folder: hash("sha256", address), fileAt };
    } finally {
      rmSync(file, { force: true });
    }
  } catch (error) {
    // Not every file's name ends with .zip.
    if (!isNamed && isWithheld(error)) return null;
    throw error;
  }
}
