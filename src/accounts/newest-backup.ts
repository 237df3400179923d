/** `newest-backup.json`: where the newest backup of an account is, as far as it was made on this machine. */
import { z } from "zod";
import { readPrivateFile, writePrivateFile } from "../platform/private-files.ts";
import type { AccountPlace } from "./account.ts";
import { listReadableAccounts } from "./accounts.ts";

const content = z.object({
  /** An absolute path. */
  file: z.string().min(1),
  /** In hex. */
  rootHash: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.iso.datetime(),
  /** The last time that all of it was read and found sound. */
  verifiedAt: z.iso.datetime(),
});

export type NewestBackup = Readonly<z.infer<typeof content>>;

/** @returns null if there is none, or its description cannot be read @throws FileError `unsafe` */
export function readNewestBackup({ newestBackupFile }: AccountPlace): NewestBackup | null {
  const text = readPrivateFile(newestBackupFile, { followsLinks: false });
  if (text === null) return null;
  try {
    return content.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** To be called for a backup that was just created and verified. @param now ISO 8601, UTC @throws FileError */
export function noteCreatedBackup(
  place: AccountPlace,
  { file, rootHash }: Pick<NewestBackup, "file" | "rootHash">,
  now: string,
): void {
  const earlier = readNewestBackup(place);
  const createdAt = earlier?.rootHash === rootHash ? earlier.createdAt : now;
  write(place, { file, rootHash, createdAt, verifiedAt: now });
}

/** To be called for a backup that is sound: notes it if it is the newest one of an account. @throws FileError */
export function noteVerifiedBackup(
  dataDir: string,
  { file, rootHash }: Pick<NewestBackup, "file" | "rootHash">,
  now: string,
): void {
  for (const account of listReadableAccounts(dataDir)) {
    const newest = readNewestBackup(account);
    if (newest?.rootHash === rootHash) write(account, { ...newest, file, verifiedAt: now });
  }
}

function write({ newestBackupFile }: AccountPlace, backup: NewestBackup): void {
  writePrivateFile(newestBackupFile, `${JSON.stringify(backup, null, 2)}\n`);
}
