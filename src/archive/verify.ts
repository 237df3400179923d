/** Is a backup what was written? Reads all of it and writes nothing. */

import { type AskPassphrase, openBackup, toReadingError } from "./container/open.ts";
import { type BackupProblem, scanBackup, type VisitEntry } from "./container/scan.ts";
import type { BackupManifest } from "./contents/manifest.ts";
import { BackupError } from "./errors.ts";

export interface VerifyRequest {
  readonly file: string;
  /** Remembered from when it was made, in hex: with it, another backup in this one's place is found as well. */
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
 * @param visit sees each entry on the way, before it is known that the rest is sound
 * @throws BackupError `newer`, `not-found`, `unreadable`, `needs-passphrase`, `wrong-passphrase`
 */
export async function verifyBackup(request: VerifyRequest, visit?: VisitEntry): Promise<VerifyReport> {
  const { file, askPassphrase } = request;
  const { bytes, isEncrypted, chunks } = await openBackup(file, askPassphrase);
  try {
    const { problems, ...scan } = await scanBackup(chunks(), visit);
    return {
      file,
      bytes,
      isEncrypted,
      ...scan,
      problems: [...problems, ...compareRoot(request, scan.rootHash)],
    };
  } catch (error) {
    throw error instanceof BackupError ? naming(file, error) : toReadingError(error, file);
  }
}

/** Whoever reads bytes does not know of which file. */
function naming(file: string, { code, message, hint, cause }: BackupError): BackupError {
  return new BackupError(code, `${message}: ${file}`, hint, { cause });
}

function compareRoot({ rootHash: remembered }: VerifyRequest, rootHash: string | null): BackupProblem[] {
  if (remembered === undefined || rootHash === null || remembered.toLowerCase() === rootHash) return [];
  return [{ entry: null, what: `its root hash is ${rootHash}: it is another backup, or a forged one` }];
}
