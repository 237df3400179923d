/** Writes an archive of a mirror: one file, whole or absent, and never over another one by accident. */
import { lstatSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileMode, type TemporaryFile, writeTemporary } from "../platform/atomic-file.ts";
import { isSystemError } from "../platform/errors.ts";
import { type ReadFreeBytes, requireFreeSpace, workingBytes } from "../platform/files/free-space.ts";
import { hashFile } from "../platform/files/long-files.ts";
import { requireReplaceable } from "../platform/files/replaceable-files.ts";
import { inNewFolders } from "../platform/folders.ts";
import type { HashedEntries } from "./container/checksums.ts";
import { encrypted } from "./container/encryption.ts";
import { zipChunks } from "./container/zip-writer.ts";
import { fileExists, numberedName, resolveDestination } from "./destination.ts";
import { BackupError } from "./errors.ts";

export interface WriteArchiveRequest {
  /** The mirror's file; a sync may write it meanwhile. */
  readonly mirror: string;
  /**
   * A file that ends in `.zip` or, encrypted, in `.zip.age`; or a folder, in which the file gets a name, with a number if another
   * state has the name.
   */
  readonly to: string;
  /** Encrypts the archive. */
  readonly passphrase?: string;
  /** Replaces an existing file. */
  readonly replace?: boolean;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
  /** Cancels it; its reason is thrown. */
  readonly signal?: AbortSignal;
}

export interface WrittenArchive {
  /** The absolute path. */
  readonly file: string;
  /** The size of the file. */
  readonly bytes: number;
  /** False if the same archive existed already. */
  readonly isNew: boolean;
  /** In hex; to be kept elsewhere. The same state has the same one, encrypted or not. */
  readonly rootHash: string;
}

interface ArchiveToWrite extends WriteArchiveRequest {
  /** Of the file, if `to` is a folder. */
  readonly name: string;
  readonly content: HashedEntries;
  /** Whether it is for others: then with the modes that the umask allows, and missing folders are made. Default: no. */
  readonly isPublic?: boolean;
  /** Whether a file is a sound archive with this root hash. */
  readonly isSame: (file: string, rootHash: string) => Promise<boolean>;
}

/**
 * The file is read again before it gets its name. On any error, an earlier file at `to` is unchanged and nothing is left
 * beside it.
 * @throws BackupError, also `damaged` if it reads back differently; FileError, what the entries throw; the signal's reason
 */
export async function writeArchive(request: ArchiveToWrite): Promise<WrittenArchive> {
  const { to, mirror, passphrase, signal, content, isPublic = false } = request;
  const isEncrypted = passphrase !== undefined;
  const file = resolveDestination({ to, isEncrypted, makesFolders: isPublic }, request.name);
  const zip = zipChunks(content.entries);
  try {
    requireFreeSpace(
      // Bodies are compressed a little worse than in the mirror, and earlier ones, indexes and pages may be left out.
      { folder: dirname(file), bytes: workingBytes + statSync(mirror).size / 4, purpose: "The archive" },
      request.readFreeBytes,
    );
    const chunks = passphrase === undefined ? zip : encrypted(zip, passphrase);
    return await inNewFolders(file, !isPublic, async () => {
      const written = await writeTemporary(file, chunks, { signal, mode: fileMode(!isPublic) });
      await requireReadable(written, file);
      return await publish(written, { file, bytes: written.bytes, rootHash: content.rootHash() }, request);
    });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = "Make room or choose another place. An earlier file there is unchanged.";
    throw new BackupError("write-failed", `Cannot write ${file}: ${error.message}`, hint, { cause: error });
  }
}

/** A failing disk may store other bytes than it was given. @throws BackupError `damaged`, a system error; no file is left then */
async function requireReadable({ path, sha256, discard }: TemporaryFile, file: string): Promise<void> {
  try {
    if ((await hashFile(path)).sha256 === sha256) return;
    throw new BackupError(
      "damaged",
      `Verification failed: the file on disk differs from what was written: ${file}`,
      "The disk or its cable may be failing. Write to another place. An earlier file there is unchanged.",
    );
  } catch (error) {
    await discard();
    throw error;
  }
}

/**
 * Gives the file its final name. In a folder, another state of the same name gets the next number: a run that has not ended has
 * the time of its beginning, and two short runs may end in one second. A file that the user named is replaced only with
 * `replace`.
 */
async function publish(
  written: TemporaryFile,
  made: Omit<WrittenArchive, "isNew">,
  { to, replace = false, signal, isSame }: ArchiveToWrite,
): Promise<WrittenArchive> {
  try {
    const isNamedByUser = resolve(to) === made.file;
    for (let n = 1; ; n++) {
      signal?.throwIfAborted();
      const file = n === 1 ? made.file : numberedName(made.file, n);
      const stats = lstatSync(file, { throwIfNoEntry: false });
      const exists = stats !== undefined;
      // A link is replaced, and its target stays.
      if (replace && stats?.isFile()) requireReplaceable(file);
      if (!exists || replace) {
        await written.commit(file);
        return { ...made, file, isNew: true };
      }
      if (await isSame(file, made.rootHash)) {
        await written.discard();
        return { ...made, file, bytes: statSync(file).size, isNew: false };
      }
      if (isNamedByUser) throw fileExists(file);
    }
  } catch (error) {
    await written.discard();
    throw error;
  }
}
