/** What a backup's file is called, unless told: sorted by name, those of an account are in the order of their states. */
import { basename } from "node:path";
import type { BackupManifest } from "./manifest.ts";

export const plainEnding = ".zip";
export const encryptedEnding = ".zip.age";

/** @param mirrorFile gives the name where there is no account */
export function backupName(
  { account, state }: Pick<BackupManifest, "account" | "state">,
  mirrorFile: string,
  isEncrypted: boolean,
): string {
  const stem =
    account ??
    basename(mirrorFile)
      .replace(/\.[^.]*$/, "")
      .replace(/[^A-Za-z0-9_-]+/g, "-");
  // A colon is no part of a file's name on Windows, and seconds are enough to tell two runs apart.
  const at = state.at.slice(0, 19).replaceAll(":", "");
  return `armoire-${stem}-${at}Z${isEncrypted ? encryptedEnding : plainEnding}`;
}

/** Whether a file in a folder may be a backup, by its name. */
export const mayBeBackup = (name: string): boolean =>
  !name.startsWith(".") && (name.endsWith(plainEnding) || name.endsWith(encryptedEnding));

/** Whether it has a name that we give. */
export const isNamedAsBackup = (name: string): boolean => name.startsWith("armoire-") && mayBeBackup(name);
