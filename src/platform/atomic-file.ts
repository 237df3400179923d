/**
 * Files that are whole or absent: written under a temporary name in the same folder, flushed to disk, then renamed.
 * Files are readable by their owner only, unless a caller gives another mode.
 */
import { hash, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { type Chunks, type FileSummary, type WriteOptions, writeHashedFile } from "./files/long-files.ts";
import { requireRegularFile } from "./files/regular-files.ts";
import { inNewFolders, removeFile, syncFolder } from "./folders.ts";
import { isProcessAlive } from "./process-lock.ts";

/** Names the host, so that a process on another computer that shares the folder is never taken for a dead one. */
const temporaryPrefix = () => `.armoire-partial-${hash("sha256", hostname()).slice(0, 8)}-`;

const ownerOnly = 0o600;

/** The mode to create a file with; the umask still applies. */
export const fileMode = (isPrivate = false): number => (isPrivate ? ownerOnly : 0o666);

/**
 * Renames a complete, flushed file to its final name, replacing any other; durable on return.
 * @throws FileError `not-a-file` if something is there that is neither a file nor a link to one; a system error
 */
export function publish(temporary: string, place: string): void {
  requireRegularFile(place);
  renameSync(temporary, place);
  syncFolder(dirname(place));
}

/** The temporary file of `replaceFile`. After a kill it may remain until the next call. */
export const temporaryNameOf = (place: string): string => `${place}.new`;

/**
 * Replaces a small file; durable on return. One process at a time may do so for each file.
 * @throws a system error; the old file is then unchanged
 */
export function replaceFile(place: string, content: string | Uint8Array): void {
  const temporary = temporaryNameOf(place);
  try {
    removeFile(temporary);
    writeNewFile(temporary, content);
    publish(temporary, place);
  } catch (error) {
    removeFile(temporary);
    throw error;
  }
}

/** Flushes the content of a file that others have written. @throws a system error */
export function syncFile(path: string): void {
  const handle = openSync(path, "r+");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Creates a file and flushes its content, but not its name.
 * @throws a system error, also if the file exists; on any other error, no file is left
 * @param mode default: readable by its owner only
 */
export function writeNewFile(path: string, content: string | Uint8Array, mode = ownerOnly): void {
  // "wx" creates the file with its mode: there is no moment at which others could open it.
  const handle = openSync(path, "wx", mode);
  try {
    try {
      writeFileSync(handle, content);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    removeFile(path);
    throw error;
  }
}

export interface TemporaryFile extends FileSummary {
  /** Where it is until it has its final name. */
  readonly path: string;
  /** Renames it to its final name, or to another one in the same folder; durable on return. */
  commit(as?: string): void;
  discard(): Promise<void>;
}

/**
 * Writes the content of `place` to a temporary file beside it. Also removes the temporary files of killed processes:
 * they may hold private data.
 * @throws a system error, errors of `chunks`, or the signal's reason; nothing is left then
 */
export async function writeTemporary(
  place: string,
  chunks: Chunks,
  options: Omit<WriteOptions, "flush"> = {},
): Promise<TemporaryFile> {
  const path = await chooseTemporary(place);
  const discard = () => rm(path, { force: true });
  try {
    const summary = await writeHashedFile(path, chunks, options);
    return { ...summary, path, discard, commit: (as = place) => publish(path, as) };
  } catch (error) {
    await discard();
    throw error;
  }
}

/**
 * Writes a file that a user named, whole or not at all, and the missing folders above it.
 * @throws as writeTemporary does
 */
export async function writeOutput(place: string, chunks: Chunks, options: OutputOptions): Promise<void> {
  await inNewFolders(place, options.isPrivate, async () => {
    const { signal, isPrivate } = options;
    (await writeTemporary(place, chunks, { signal, mode: fileMode(isPrivate) })).commit();
  });
}

export interface OutputOptions {
  /** Readable by its owner only; else the modes that the umask allows. */
  readonly isPrivate: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A new name beside `place`; also removes the temporary files of killed processes there. */
export async function chooseTemporary(place: string): Promise<string> {
  await removeAbandoned(dirname(place));
  // A name that cannot be guessed, so that no other user can place a link there first.
  return join(dirname(place), `${temporaryPrefix()}${process.pid}-${randomBytes(6).toString("hex")}`);
}

async function removeAbandoned(folder: string): Promise<void> {
  const prefix = temporaryPrefix();
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const processId = Number.parseInt(name.slice(prefix.length), 10);
    if (!isProcessAlive(processId)) await rm(join(folder, name), { force: true });
  }
}
