/** Opens a backup's file. Out: its bytes, decrypted if it is encrypted. */
import { closeSync, createReadStream, fstatSync, readSync } from "node:fs";
import { hasCode, isSystemError } from "../../platform/errors.ts";
import { openRegularFile } from "../../platform/files/regular-files.ts";
import { BackupError } from "../errors.ts";
import { ageHeaderBytes, decrypted, isEncrypted } from "./encryption.ts";

/** Called only for an encrypted backup. */
export type AskPassphrase = () => Promise<string>;

/** The option for a passphrase that is known already, or for none. */
export const withPassphrase = (passphrase: string | undefined): { readonly askPassphrase?: AskPassphrase } =>
  passphrase === undefined ? {} : { askPassphrase: async () => passphrase };

export interface OpenBackup {
  readonly bytes: number;
  readonly isEncrypted: boolean;
  /** Reads from the beginning, at each call. @throws BackupError, ZipError */
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

const chunkBytes = 1 << 17;

/** @throws BackupError `not-found`, `unreadable`, `needs-passphrase` */
export async function openBackup(file: string, askPassphrase?: AskPassphrase): Promise<OpenBackup> {
  const { bytes, head } = readHead(file);
  const plain = () => createReadStream(file, { highWaterMark: chunkBytes });
  if (!isEncrypted(head)) return { bytes, isEncrypted: false, chunks: plain };
  if (askPassphrase === undefined) throw needsPassphrase(file);
  const passphrase = await askPassphrase();
  return { bytes, isEncrypted: true, chunks: () => decrypted(plain(), passphrase) };
}

function readHead(file: string): { bytes: number; head: Buffer } {
  try {
    const handle = openRegularFile(file);
    try {
      const head = Buffer.alloc(ageHeaderBytes);
      const length = readSync(handle, head);
      return { bytes: fstatSync(handle).size, head: head.subarray(0, length) };
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw toReadingError(error, file);
  }
}

/** Turns a system error into a BackupError; returns any other error as it is. */
export function toReadingError(error: unknown, file: string): unknown {
  if (hasCode(error, "not-a-file")) return unreadable(file, "it is not a regular file", error);
  if (!isSystemError(error)) return error;
  if (error.code === "ENOENT") {
    const hint = "Check the path; `armoire backup list DIR` shows the backups of a folder.";
    return new BackupError("not-found", `There is no such file or folder: ${file}`, hint, { cause: error });
  }
  return unreadable(file, error.message, error);
}

function unreadable(file: string, reason: string, cause?: unknown): BackupError {
  return new BackupError(
    "unreadable",
    `Cannot read the backup ${file}: ${reason}`,
    "Check the file and its permissions, or take another copy.",
    { cause },
  );
}

function needsPassphrase(file: string): BackupError {
  return new BackupError(
    "needs-passphrase",
    `The backup is encrypted: ${file}`,
    "Give its passphrase at the prompt, with --passphrase-file FILE or in ARMOIRE_BACKUP_PASSPHRASE.",
  );
}
