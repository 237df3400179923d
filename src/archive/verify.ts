/** Verifies an archive: reads all of it and writes nothing. */
import { type AskPassphrase, openBackup, toReadingError } from "./container/open.ts";
import { type ArchiveType, type BackupProblem, type EntryVisitor, scanArchive } from "./container/scan.ts";
import { type BackupVisitor, backupType } from "./contents/check-backup.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { BackupError } from "./errors.ts";

export interface VerifyRequest {
  readonly file: string;
  /** From when the archive was made, in hex. With it, a forged or another one is found as well. */
  readonly rootHash?: string;
  /** Needed for an encrypted one, else `needs-passphrase` is thrown. */
  readonly askPassphrase?: AskPassphrase;
}

export interface ArchiveReport<Manifest> {
  readonly file: string;
  readonly bytes: number;
  readonly isEncrypted: boolean;
  /** Null if it cannot be read. */
  readonly manifest: Manifest | null;
  /** In hex; null if the list of checksums cannot be read. */
  readonly rootHash: string | null;
  /** The number of entries that were read. */
  readonly entries: number;
  /** None for a sound archive. */
  readonly problems: readonly BackupProblem[];
}

export type VerifyReport = ArchiveReport<BackupManifest>;

/**
 * Reads all of a backup and writes nothing. Damage is no error: it is in the report's `problems`.
 * @param visitor sees the contents on the way, before the rest is known to be sound
 * @throws BackupError `other-version`, `not-found`, `unreadable`, `needs-passphrase`, `wrong-passphrase`
 */
export function verifyBackup(request: VerifyRequest, visitor: BackupVisitor = {}): Promise<VerifyReport> {
  return verifyArchive(request, backupType, visitor);
}

/** As `verifyBackup`, for any type of archive. */
export async function verifyArchive<Manifest, Visitor extends EntryVisitor<Manifest>>(
  request: VerifyRequest,
  type: ArchiveType<Manifest, Visitor>,
  visitor: Visitor,
): Promise<ArchiveReport<Manifest>> {
  const { file, askPassphrase } = request;
  const { bytes, isEncrypted, chunks } = await openBackup(file, askPassphrase);
  try {
    const { manifest, rootHash, checksums, problems } = await scanArchive(chunks(), type, visitor);
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
  return [
    {
      entry: null,
      message: `its root hash is ${actual}, not the expected one: it is another file, or was forged`,
    },
  ];
}
