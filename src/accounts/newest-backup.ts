/** `newest-backup.json`: where the newest backup of an account is, as far as it was made on this machine. */
import { existsSync } from "node:fs";
import { z } from "zod";
import type { MirrorReader } from "../mirror/reader.ts";
import { listRuns } from "../mirror/runs/run-log.ts";
import { writeTemporary } from "../platform/atomic-file.ts";
import { toFileError } from "../platform/errors.ts";
import { readPrivateFile } from "../platform/private-files.ts";
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
  /** The last time that the file was read, if it was found damaged then. */
  damagedAt: z.iso.datetime().nullable(),
});

export type NewestBackup = Readonly<z.infer<typeof content>>;

/** What the last check found, if the file is still there. */
export const stateOfBackup = ({ file, damagedAt }: NewestBackup): "verified" | "damaged" | "missing" =>
  existsSync(file) ? (damagedAt === null ? "verified" : "damaged") : "missing";

/** Whether the mirror has changed since. Null without a backup, and for earlier states, to which it does not belong. */
export function lacksChanges(backup: NewestBackup | null, mirror: MirrorReader): boolean | null {
  if (backup === null || mirror.asOf !== null) return null;
  const later = listRuns(mirror, -1, false).filter(
    ({ startedAt, endedAt }) => (endedAt ?? startedAt) > backup.createdAt,
  );
  return later.some(({ counts }) => {
    const { new: added, changed, gone } = counts?.resources ?? { new: 1, changed: 0, gone: 0 };
    return added + changed + gone > 0;
  });
}

/** @returns null if there is none, or its description cannot be read or is not private */
export function readNewestBackup({ newestBackupFile }: AccountPlace): NewestBackup | null {
  try {
    const text = readPrivateFile(newestBackupFile, { followsLinks: false });
    return text === null ? null : content.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** To be called for a backup that was just created and verified. @param now ISO 8601, UTC @throws FileError */
export async function noteCreatedBackup(
  place: AccountPlace,
  { file, rootHash }: Pick<NewestBackup, "file" | "rootHash">,
  now: string,
): Promise<void> {
  const earlier = readNewestBackup(place);
  const createdAt = earlier?.rootHash === rootHash ? earlier.createdAt : now;
  await write(place, { file, rootHash, createdAt, verifiedAt: now, damagedAt: null });
}

/**
 * To be called for a backup that was read: notes the result if the file is the newest backup of an account, or the same
 * backup in place of a file that is gone.
 * @param rootHash null for a damaged file @throws FileError
 */
export async function noteCheckedBackup(
  dataDir: string,
  { file, rootHash }: { readonly file: string; readonly rootHash: string | null },
  now: string,
): Promise<void> {
  for (const account of listReadableAccounts(dataDir)) {
    const newest = readNewestBackup(account);
    if (newest === null) continue;
    if (rootHash === null) {
      if (file === newest.file) await write(account, { ...newest, damagedAt: now });
    } else if (rootHash === newest.rootHash && (file === newest.file || !existsSync(newest.file)))
      await write(account, { ...newest, file, verifiedAt: now, damagedAt: null });
  }
}

/** Several processes may write it. */
async function write({ newestBackupFile }: AccountPlace, backup: NewestBackup): Promise<void> {
  try {
    const text = Buffer.from(`${JSON.stringify(backup, null, 2)}\n`);
    (await writeTemporary(newestBackupFile, [text])).commit();
  } catch (error) {
    throw toFileError(error, newestBackupFile);
  }
}
