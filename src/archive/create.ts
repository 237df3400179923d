/** Makes a backup of a mirror: one file, whole or absent, without a request to the service. */
import { lstatSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { requireRestorable } from "../mirror/bookkeeping/restore-rows.ts";
import { type MirrorReader, readMirror } from "../mirror/reader.ts";
import { type TemporaryFile, writeTemporary } from "../platform/atomic-file.ts";
import { isSystemError } from "../platform/errors.ts";
import { type ReadFreeBytes, requireFreeSpace, workingBytes } from "../platform/files/free-space.ts";
import { encrypted, requireStrongPassphrase } from "./container/encryption.ts";
import { withPassphrase } from "./container/open.ts";
import { zipChunks } from "./container/zip-writer.ts";
import { readContents } from "./contents/entries.ts";
import { readLinkedCatalogue } from "./contents/linked-catalogue.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { backupName, fileExists, numberedName, resolveDestination } from "./destination.ts";
import { BackupError } from "./errors.ts";
import { verifyBackup } from "./verify.ts";

export interface CreateBackupRequest {
  /** The mirror's file; a sync may write it meanwhile. */
  readonly mirror: string;
  /**
   * The catalogue's mirror, for the resources that an account's bras link to; it need not exist. Default: none, so the backup
   * has no catalogue part.
   */
  readonly catalogue?: string | null;
  /** The account's name; null for a mirror that was given as a file. */
  readonly account: string | null;
  /**
   * A file that ends in `.zip` or, encrypted, in `.zip.age`; or a folder, in which the file is named by account and state, with
   * a number if another state has the name.
   */
  readonly to: string;
  /** Encrypts the backup. */
  readonly passphrase?: string;
  /** Replaces an existing file. */
  readonly replace?: boolean;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
  readonly signal?: AbortSignal;
}

export interface CreatedBackup {
  readonly file: string;
  readonly bytes: number;
  readonly isEncrypted: boolean;
  /** False if the same backup existed already. */
  readonly isNew: boolean;
  /** In hex; to be kept elsewhere. The same state has the same one, encrypted or not. */
  readonly rootHash: string;
  readonly manifest: BackupManifest;
  /** Why the catalogue's mirror could not be read, so the catalogue part is missing; else null. */
  readonly catalogueError: unknown;
}

/**
 * On any error, an earlier file at `to` is unchanged and nothing is left beside it.
 * @throws MirrorError, also `damaged` for a damaged body; BackupError; the signal's reason
 */
export async function createBackup(request: CreateBackupRequest): Promise<CreatedBackup> {
  return await readMirror(request.mirror, (mirror) => {
    // One read transaction: one instant of the mirror, while a sync may write it.
    mirror.db.exec("begin");
    return writeBackup(mirror, request);
  });
}

async function writeBackup(mirror: MirrorReader, request: CreateBackupRequest): Promise<CreatedBackup> {
  const { passphrase, signal } = request;
  if (passphrase !== undefined) requireStrongPassphrase(passphrase);
  await requireRestorable(mirror);
  const catalogue = readLinkedCatalogue(mirror, request.catalogue ?? null);
  const { manifest, entries, rootHash } = readContents(mirror, request.account, catalogue);
  const { error: catalogueError } = catalogue;
  const isEncrypted = passphrase !== undefined;
  const file = resolveDestination(
    { to: request.to, isEncrypted },
    backupName(manifest, request.mirror, isEncrypted),
  );
  const zip = zipChunks(entries);
  try {
    requireFreeSpace(
      // Bodies are stored as they were sent, so an archive is larger than the mirror unless that holds much of the past.
      {
        folder: dirname(file),
        bytes: workingBytes + statSync(request.mirror).size / 4,
        purpose: "The backup",
      },
      request.readFreeBytes,
    );
    const written = await writeTemporary(file, isEncrypted ? encrypted(zip, passphrase) : zip, { signal });
    const made = { file, bytes: written.bytes, isEncrypted, rootHash: rootHash(), manifest, catalogueError };
    return await publish(written, made, request);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = "Make room or choose another place. An earlier backup there is unchanged.";
    throw new BackupError("write-failed", `Cannot write ${file}: ${error.message}`, hint, { cause: error });
  }
}

/**
 * Gives the file its final name. In a folder, another state of the same second gets the next numbered name: a run that has not
 * ended has the time of its beginning, and two short runs may end in one second. A file that the user named is replaced only
 * with `replace`.
 */
async function publish(
  written: TemporaryFile,
  made: Omit<CreatedBackup, "isNew">,
  { to, replace = false, passphrase, signal }: CreateBackupRequest,
): Promise<CreatedBackup> {
  try {
    const isNamedByUser = resolve(to) === made.file;
    for (let n = 1; ; n++) {
      signal?.throwIfAborted();
      const file = n === 1 ? made.file : numberedName(made.file, n);
      const exists = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
      if (!exists || replace) {
        await written.commit(file);
        return { ...made, file, isNew: true };
      }
      if (await isSameBackup(file, made.rootHash, passphrase)) {
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

/** A sound backup with the same root hash has the same content; encrypted again, its bytes differ. */
async function isSameBackup(file: string, rootHash: string, passphrase?: string): Promise<boolean> {
  const report = await verifyBackup({ file, ...withPassphrase(passphrase) }).catch((error) => {
    if (error instanceof BackupError) return null;
    throw error;
  });
  return report?.rootHash === rootHash && report.problems.length === 0;
}

/**
 * Reads a new backup again, to its last byte: a failing disk may store other bytes than it was given.
 * @throws BackupError `damaged`
 */
export async function verifyWritten(
  { file, rootHash }: Pick<CreatedBackup, "file" | "rootHash">,
  { passphrase }: { readonly passphrase?: string },
): Promise<void> {
  const [problem] = (await verifyBackup({ file, rootHash, ...withPassphrase(passphrase) })).problems;
  if (problem === undefined) return;
  throw new BackupError(
    "damaged",
    `Verification failed: the file on disk differs from what was written: ${file}: ${problem.message}`,
    "The disk or its cable may be failing. Nothing was removed; back up to another place.",
  );
}
