/** What was written, read again to its last byte: a disk may take everything and keep something else. */
import { BackupError } from "./backup-error.ts";
import type { CreatedBackup } from "./create-backup.ts";
import { answering } from "./open-backup.ts";
import { verifyBackup } from "./verify-backup.ts";

/** @throws BackupError `damaged` where it is not what was written */
export async function readBack(
  { file, rootHash }: Pick<CreatedBackup, "file" | "rootHash">,
  { passphrase }: { readonly passphrase?: string },
): Promise<void> {
  const [problem] = (await verifyBackup({ file, rootHash, ...answering(passphrase) })).problems;
  if (problem === undefined) return;
  throw new BackupError(
    "damaged",
    `The backup that was just written reads back as another one: ${file}: ${problem.what}`,
    "The disk or its cable may be failing. Nothing was removed; back up to another place.",
  );
}
