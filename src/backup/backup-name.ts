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

/** The name of the `n`th backup of another state within one second, from the second on; sorted, it comes after the one before it. */
export function numbered(file: string, n: number): string {
  const ending = file.endsWith(encryptedEnding) ? encryptedEnding : plainEnding;
  return `${file.slice(0, -ending.length)}_${String(n).padStart(2, "0")}${ending}`;
}

const givenName = /^armoire-.+-\d{4}-\d{2}-\d{2}T\d{6}Z(?:_\d{2,})?\.zip(?:\.age)?$/;

/** Whether it has a name that we give, and not one that somebody chose for it. */
export const hasGivenName = (name: string): boolean => givenName.test(name);

/** Whether a file in a folder may be a backup, by its name. */
export const mayBeBackup = (name: string): boolean =>
  !name.startsWith(".") && (name.endsWith(plainEnding) || name.endsWith(encryptedEnding));

/** Whether it is called as ours are, whoever named it. */
export const isNamedAsBackup = (name: string): boolean => name.startsWith("armoire-") && mayBeBackup(name);
