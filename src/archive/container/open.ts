/** A backup's file as its bytes, decrypted where it is encrypted. */
import { constants, createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { isSystemError } from "../../platform/errors.ts";
import { BackupError } from "../errors.ts";
import { beginningBytes, decrypted, isEncrypted } from "./encryption.ts";

/** Asked only where a passphrase is needed. */
export type AskPassphrase = () => Promise<string>;

/** For who knows it already, or knows of none. */
export const withPassphrase = (passphrase: string | undefined): { readonly askPassphrase?: AskPassphrase } =>
  passphrase === undefined ? {} : { askPassphrase: async () => passphrase };

export interface OpenBackup {
  readonly bytes: number;
  readonly isEncrypted: boolean;
  /** From the beginning, each time that it is called. @throws BackupError, ZipError */
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

const chunkBytes = 1 << 20;

/** @throws BackupError `not-found`, `unreadable`, `needs-passphrase` */
export async function openBackup(file: string, askPassphrase?: AskPassphrase): Promise<OpenBackup> {
  const { bytes, head } = await readHead(file);
  const plain = () => createReadStream(file, { highWaterMark: chunkBytes });
  if (!isEncrypted(head)) return { bytes, isEncrypted: false, chunks: plain };
  if (askPassphrase === undefined) throw needsPassphrase(file);
  const passphrase = await askPassphrase();
  return { bytes, isEncrypted: true, chunks: () => decrypted(plain(), passphrase) };
}

async function readHead(file: string): Promise<{ bytes: number; head: Buffer }> {
  try {
    // Not to wait for ever for the other end of a pipe. Windows does not know the flag.
    const { O_RDONLY, O_NONBLOCK = 0 } = constants;
    const handle = await open(file, O_RDONLY | O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw unreadable(file, "it is no file");
      const head = Buffer.alloc(beginningBytes);
      const { bytesRead } = await handle.read(head, 0, beginningBytes, 0);
      return { bytes: stats.size, head: head.subarray(0, bytesRead) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw toReadingError(error, file);
  }
}

/** Turns what the system says into a BackupError; anything else is given back as it is. */
export function toReadingError(error: unknown, file: string): unknown {
  if (!isSystemError(error)) return error;
  if (error.code === "ENOENT") {
    const hint = "`armoire backup list DIR` shows the backups of a folder.";
    return new BackupError("not-found", `There is no backup ${file}`, hint, { cause: error });
  }
  return unreadable(file, error.message, error);
}

function unreadable(file: string, why: string, cause?: unknown): BackupError {
  return new BackupError(
    "unreadable",
    `Cannot read the backup ${file}: ${why}`,
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
