/** The folders of accounts: private to their owner, and never behind a symbolic link. */
import { chmodSync, lstatSync, statSync } from "node:fs";
import { mediaFolder } from "../mirror/media/media-files.ts";
import { hasCode, toFileError } from "../platform/errors.ts";
import { makeFolders } from "../platform/folders.ts";
import { requireOwnFolder, requireUnreplaceable, symbolicLinkError } from "../platform/private-files.ts";
import { accountPlace, accountsFolder } from "./account.ts";

const accessByOthers = 0o077;

/**
 * Creates the account's folder and its missing parents.
 * @returns the created folders, the innermost first
 * @throws FileError
 */
export function makeAccountFolder(dataDir: string, name: string): string[] {
  const { folder } = accountPlace(dataDir, name);
  try {
    requireUnreplaceable(dataDir);
    const made = makeFolders(dataDir);
    requireOwnFolder(dataDir, statSync(dataDir));
    // Checks each folder before it creates the next one: a link must not lead elsewhere.
    for (const path of [accountsFolder(dataDir), folder]) {
      made.unshift(...makeFolders(path));
      requirePrivateFolder(path);
    }
    requireAccountFolder(dataDir, name);
    return made;
  } catch (error) {
    throw toFileError(error, folder);
  }
}

/**
 * Behind a link, data would stay when the account is removed.
 * @throws FileError `unsafe` if others may add files to the account; a system error if there is no such folder
 */
export function requireAccountFolder(dataDir: string, name: string): void {
  requireAccountsFolder(dataDir);
  const { folder, mirrorFile, ledgerFile } = accountPlace(dataDir, name);
  requirePrivateFolder(folder);
  for (const path of [mirrorFile, ledgerFile, mediaFolder(mirrorFile)]) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw symbolicLinkError(path);
  }
}

/** Others no longer see the names in it. On a disk that is read-only, they stay visible. */
function requirePrivateFolder(path: string): void {
  const stats = lstatSync(path);
  requireOwnFolder(path, stats);
  if ((stats.mode & accessByOthers) === 0) return;
  try {
    chmodSync(path, 0o700);
  } catch (error) {
    if (!hasCode(error, "EROFS")) throw error;
  }
}

/** @throws FileError `unsafe`; a system error if there is no such folder */
export function requireAccountsFolder(dataDir: string): void {
  requireUnreplaceable(dataDir);
  // The user chose the data directory: it may be a link.
  requireOwnFolder(dataDir, statSync(dataDir));
  requireOwnFolder(accountsFolder(dataDir), lstatSync(accountsFolder(dataDir)));
}
