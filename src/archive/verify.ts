/** Verifies a backup: reads all of it and writes nothing. */
import { type AskPassphrase, openBackup, toReadingError } from "./container/open.ts";
import type { BackupProblem } from "./container/scan.ts";
import { type BackupVisitor, scanBackup } from "./contents/check-backup.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { BackupError } from "./errors.ts";

export interface VerifyRequest {
  readonly file: string;
  /** From when the backup was made, in hex. With it, a forged or another backup is found as well. */
  readonly rootHash?: string;
  readonly askPassphrase?: AskPassphrase;
}

export interface VerifyReport {
  readonly file: string;
  readonly bytes: number;
  readonly isEncrypted: boolean;
  readonly manifest: BackupManifest | null;
  readonly rootHash: string | null;
  readonly entries: number;
  readonly problems: readonly BackupProblem[];
}

/**
 * @param visitor sees the contents on the way, before the rest is known to be sound
 * @throws BackupError `other-version`, `not-found`, `unreadable`, `needs-passphrase`, `wrong-passphrase`
 */
export async function verifyBackup(request: VerifyRequest, visitor?: BackupVisitor): Promise<VerifyReport> {
  const { file, askPassphrase } = request;
  const { bytes, isEncrypted, chunks } = await openBackup(file, askPassphrase);
  try {
    const { manifest, rootHash, checksums, problems } = await scanBackup(chunks(), visitor);
    const all = [...problems, ...compareRootHash(request.rootHash, rootHash)];
    return { file, bytes, isEncrypted, manifest, rootHash, entries: checksums.size, problems: all };
  } catch (error) {
    throw error instanceof BackupError ? withFile(file, error) : toReadingError(error, file);
  }
}

/** Adds the file to an error of the scan, which sees only bytes. */
export function withFile(file: string, { code, message, hint, cause }: BackupError): BackupError {
  return new BackupError(code, `${message}: ${file}`, hint, { cause });
}

export function compareRootHash(expected: string | undefined, actual: string | null): BackupProblem[] {
  if (expected === undefined || actual === null || expected.toLowerCase() === actual) return [];
  return [{ entry: null, message: `its root hash is ${actual}: it is another backup, or a forged one` }];
}
