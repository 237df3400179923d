/**
 * Putting a finished folder in the place of an older one. No file system call that Node has swaps two folders, so between
 * two renames nothing is in place; whoever is killed there leaves the old one beside it, and the next export puts it back.
 */
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isProcessAlive } from "../src/mirror/file/is-process-alive.ts";
import { syncFolder } from "../src/mirror/file/sync-folder.ts";
import { isSystemError } from "../src/mirror/file/system-error.ts";

const oldName = (place: string): string => join(dirname(place), `.${basename(place)}.armoire-old`);
const partialPrefix = (place: string): string => `.${basename(place)}.armoire-partial-`;

/** Makes an empty folder beside `place`, only for us, whose name says which process fills it. */
export async function makePartialFolder(place: string): Promise<string> {
  return await mkdtemp(join(dirname(place), `${partialPrefix(place)}${process.pid}-`));
}

/** Puts `folder` in the place of what is at `place`, if anything; durable when this returns. */
export async function replaceFolder(folder: string, place: string): Promise<void> {
  const old = oldName(place);
  const replaces = await renameIfThere(place, old);
  try {
    await rename(folder, place);
  } catch (error) {
    if (replaces) await rename(old, place);
    throw error;
  }
  syncFolder(dirname(place));
  if (replaces) await rm(old, { recursive: true });
}

/** Puts right what killed processes left: the old folder goes back if its place is empty, partial folders go away. */
export async function recoverFolder(place: string): Promise<void> {
  const names = await readdir(dirname(place));
  if (names.includes(basename(place))) await rm(oldName(place), { recursive: true, force: true });
  else await renameIfThere(oldName(place), place);
  for (const name of names.filter((name) => name.startsWith(partialPrefix(place)))) {
    const processId = Number.parseInt(name.slice(partialPrefix(place).length), 10);
    if (!isProcessAlive(processId)) await rm(join(dirname(place), name), { recursive: true, force: true });
  }
}

async function renameIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === "ENOENT") return false;
    throw error;
  }
}
