/** A backup of a mirror: one file that is there as a whole or not at all, made without a request. */
import { lstatSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type MirrorReader, readMirror } from "../mirror/reader.ts";
import { type TemporaryFile, writeTemporary } from "../platform/atomic-file.ts";
import { isSystemError } from "../platform/errors.ts";
import { encrypted } from "./container/encryption.ts";
import { withPassphrase } from "./container/open.ts";
import { zipChunks } from "./container/zip-writer.ts";
import { readContents } from "./contents/entries.ts";
import { readLinkedCatalogue } from "./contents/linked-catalogue.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { backupName, isTaken, numbered, resolveDestination } from "./destination.ts";
import { BackupError } from "./errors.ts";
import { verifyBackup } from "./verify.ts";

export interface CreateBackupRequest {
  /** The mirror; a sync may go on writing it meanwhile. */
  readonly mirror: string;
  /** The catalogue's mirror, for what the bras of an account are; it need not be there. Nothing of it unless told. */
  readonly catalogue?: string | null;
  /** What the account is called; null for a mirror that is none of a named account's. */
  readonly account: string | null;
  /**
   * A file that ends in `.zip` or, encrypted, in `.zip.age`; or a folder, in which the file is named by account and state, and numbered
   * where another state has the name.
   */
  readonly to: string;
  /** With one, nobody reads the backup without it. */
  readonly passphrase?: string;
  /** Puts it in the place of another one. */
  readonly replace?: boolean;
  readonly signal?: AbortSignal;
}

export interface CreatedBackup {
  readonly file: string;
  readonly bytes: number;
  readonly isEncrypted: boolean;
  /** False where the same backup was there already. */
  readonly isNew: boolean;
  /** In hex; to be remembered elsewhere. The same state has the same one, encrypted or not. */
  readonly rootHash: string;
  readonly manifest: BackupManifest;
  /** Why nothing of the catalogue is in it, where its mirror cannot be read; else null. */
  readonly catalogueError: unknown;
}

/**
 * Whatever goes wrong, what was at `to` before is still there and nothing is left beside it.
 * @throws MirrorError, also `damaged` when a body is; BackupError; the signal's reason
 */
export async function createBackup(request: CreateBackupRequest): Promise<CreatedBackup> {
  return await readMirror(request.mirror, (mirror) => {
    // One read transaction: one instant of the mirror, whoever writes it meanwhile.
    mirror.db.exec("begin");
    return writeBackup(mirror, request);
  });
}

async function writeBackup(mirror: MirrorReader, request: CreateBackupRequest): Promise<CreatedBackup> {
  const { passphrase, signal } = request;
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
    const written = await writeTemporary(file, isEncrypted ? encrypted(zip, passphrase) : zip, signal);
    const made = { file, bytes: written.bytes, isEncrypted, rootHash: rootHash(), manifest, catalogueError };
    return await settle(written, made, request);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = "Make room or choose another place; what was there before is unchanged.";
    throw new BackupError("write-failed", `Cannot write ${file}: ${error.message}`, hint, { cause: error });
  }
}

/**
 * In a folder, another state of the same second gets the next name: a run that still goes on has the time of its beginning,
 * and two short ones may end in one second. What somebody named is only ever replaced where she says so.
 */
async function settle(
  written: TemporaryFile,
  made: Omit<CreatedBackup, "isNew">,
  { to, replace = false, passphrase, signal }: CreateBackupRequest,
): Promise<CreatedBackup> {
  try {
    const isNamed = resolve(to) === made.file;
    for (let n = 1; ; n++) {
      signal?.throwIfAborted();
      const file = n === 1 ? made.file : numbered(made.file, n);
      const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
      if (!isThere || replace) {
        await written.commit(file);
        return { ...made, file, isNew: true };
      }
      if (await isSame(file, made.rootHash, passphrase)) {
        await written.discard();
        return { ...made, file, bytes: statSync(file).size, isNew: false };
      }
      if (isNamed) throw isTaken(file);
    }
  } catch (error) {
    await written.discard();
    throw error;
  }
}

/** What has the same root hash and no problems is the same to the last byte, or was encrypted another time. */
async function isSame(file: string, rootHash: string, passphrase?: string): Promise<boolean> {
  const held = await verifyBackup({ file, ...withPassphrase(passphrase) }).catch((error) => {
    if (error instanceof BackupError) return null;
    throw error;
  });
  return held?.rootHash === rootHash && held.problems.length === 0;
}

/** What was written, read again to its last byte: a disk may take everything and keep something else. */

/** @throws BackupError `damaged` where it is not what was written */
export async function verifyWritten(
  { file, rootHash }: Pick<CreatedBackup, "file" | "rootHash">,
  { passphrase }: { readonly passphrase?: string },
): Promise<void> {
  const [problem] = (await verifyBackup({ file, rootHash, ...withPassphrase(passphrase) })).problems;
  if (problem === undefined) return;
  throw new BackupError(
    "damaged",
    `The backup that was just written reads back as another one: ${file}: ${problem.what}`,
    "The disk or its cable may be failing. Nothing was removed; back up to another place.",
  );
}
