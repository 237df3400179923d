/** Making folders, flushing the names in them, and replacing a whole folder by another. */
import { closeSync, fsyncSync, mkdirSync, openSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hasCode, isSystemError } from "./errors.ts";
import { isProcessAlive } from "./process-lock.ts";

/**
 * Makes a folder and its missing parents; durable on return. Node's recursive `mkdir` never returns in an existing folder
 * that accepts no entries, such as `/proc`.
 * @param mode default: for their owner only; the umask still applies
 * @returns the folders it made, the innermost first
 * @throws a system error
 */
export function makeFolders(path: string, mode = 0o700): string[] {
  try {
    return makeFolder(path, mode) ? [path] : [];
  } catch (error) {
    if (!hasCode(error, "ENOENT") || dirname(path) === path) throw error;
  }
  const parents = makeFolders(dirname(path), mode);
  return makeFolder(path, mode) ? [path, ...parents] : parents;
}

/**
 * Makes the missing folders above an output that a user named. If writing fails, those that it made are removed again.
 * @param isPrivate makes them for their owner only
 * @throws a system error, and what `write` throws
 */
export async function inNewFolders<Written>(
  place: string,
  isPrivate: boolean,
  write: () => Promise<Written>,
): Promise<Written> {
  const made = makeFolders(dirname(place), isPrivate ? 0o700 : 0o777);
  try {
    return await write();
  } catch (error) {
    for (const folder of made) removeEmptyFolder(folder);
    throw error;
  }
}

/** Leaves a folder in which another process has put something. */
function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

/** @returns false if the folder exists */
function makeFolder(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (hasCode(error, "EEXIST") && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
  try {
    syncFolder(dirname(path));
  } catch (error) {
    // The next call would find it and take it for durable.
    rmdirSync(path);
    throw error;
  }
  return true;
}

/** Removes a file, if it exists. `rmSync` reports some failures without their system call. @throws a system error */
export function removeFile(file: string | Buffer): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}

/** Makes the names in a folder durable. Windows has no such call and does not need it. */
export function syncFolder(folder: string | Buffer): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const replacedName = (place: string): string => join(dirname(place), `.${basename(place)}.armoire-old`);
const partialPrefix = (place: string): string => `.${basename(place)}.armoire-partial-`;

/** Makes an empty private folder beside `place`, named after this process. */
export async function makePartialFolder(place: string): Promise<string> {
  return await mkdtemp(join(dirname(place), `${partialPrefix(place)}${process.pid}-`));
}

/**
 * Replaces the folder at `place`, if any, by `folder`; durable on return. Node cannot swap two folders, so for a moment
 * `place` does not exist. `recoverFolder` repairs the state after a kill at that moment.
 */
export async function replaceFolder(folder: string, place: string): Promise<void> {
  const replaced = replacedName(place);
  const replaces = await renameIfPresent(place, replaced);
  try {
    await rename(folder, place);
  } catch (error) {
    if (replaces) await rename(replaced, place);
    throw error;
  }
  syncFolder(dirname(place));
  if (replaces) await rm(replaced, { recursive: true });
}

/** Repairs the state after a kill: restores the old folder if its place is empty, and removes partial folders. */
export async function recoverFolder(place: string): Promise<void> {
  const names = await readdir(dirname(place));
  if (names.includes(basename(place))) await rm(replacedName(place), { recursive: true, force: true });
  else await renameIfPresent(replacedName(place), place);
  for (const name of names.filter((name) => name.startsWith(partialPrefix(place)))) {
    const processId = Number.parseInt(name.slice(partialPrefix(place).length), 10);
    if (!isProcessAlive(processId)) await rm(join(dirname(place), name), { recursive: true, force: true });
  }
}

async function renameIfPresent(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}
