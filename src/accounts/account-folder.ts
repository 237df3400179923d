/** Folders that only their owner may enter; what others could change is refused, and a symbolic link is not followed. */
import { chmodSync, lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { makeFolders } from "../mirror/file/make-folders.ts";
import { syncFolder } from "../mirror/file/sync-folder.ts";
import { accountPlace, accountsFolder } from "./account.ts";
import { AccountError, toAccountError } from "./errors.ts";

const writableByOthers = 0o022;
const openToOthers = 0o077;
const sticky = 0o1000;

/**
 * Makes the account's folder, and those above it, where they are not there yet.
 * @returns those that it made, the innermost first
 * @throws AccountError
 */
export function makeAccountFolder(dataDir: string, name: string): string[] {
  const { folder } = accountPlace(dataDir, name);
  try {
    requireNotReplaced(dataDir);
    const made = makeFolders(dataDir);
    requireOwn(dataDir, statSync(dataDir));
    // One by one, so that nothing is made where a link leads.
    for (const path of [accountsFolder(dataDir), folder]) {
      made.unshift(...makeFolders(path));
      const stats = lstatSync(path);
      requireOwn(path, stats);
      if ((stats.mode & openToOthers) !== 0) chmodSync(path, 0o700);
    }
    requireAccountFolder(dataDir, name);
    for (const path of made) syncFolder(dirname(path));
    return made;
  } catch (error) {
    throw toAccountError(error, folder);
  }
}

/** @throws AccountError `unsafe` where others could put something of theirs into the account; a system error where there is no such folder */
export function requireAccountFolder(dataDir: string, name: string): void {
  requireAccountsFolder(dataDir);
  const place = accountPlace(dataDir, name);
  requireOwn(place.folder, lstatSync(place.folder));
  for (const file of [place.mirrorFile, place.ledgerFile]) {
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) throw notFollowed(file);
  }
}

/** @throws AccountError `unsafe`, or a system error where there is no such folder */
export function requireAccountsFolder(dataDir: string): void {
  requireNotReplaced(dataDir);
  // The data directory itself is where the user says: there a link may lead.
  requireOwn(dataDir, statSync(dataDir));
  requireOwn(accountsFolder(dataDir), lstatSync(accountsFolder(dataDir)));
}

/**
 * Whoever may write into a folder may rename what is in it, and put something else there between a look and a write.
 * @throws AccountError `unsafe` where others may do so above the data directory, which need not be there yet
 */
function requireNotReplaced(dataDir: string): void {
  // Windows has no such owners and modes.
  if (process.platform === "win32") return;
  const named = resolve(dataDir);
  const above = isThere(named)
    ? [...foldersAbove(named), ...foldersAbove(realpathSync(named))]
    : foldersAbove(named);
  const open = above.find((path) => isThere(path) && isOpenToRename(statSync(path)));
  if (open === undefined) return;
  throw new AccountError(
    "unsafe",
    `Others may write into the folder ${open}, and so put something else in the place of ${named}; nothing of an account is kept or used there.`,
    `Run: chmod go-w '${open}', or use another --data-dir.`,
  );
}

const foldersAbove = (path: string): string[] =>
  dirname(path) === path ? [] : [dirname(path), ...foldersAbove(dirname(path))];

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** With the sticky bit, as /tmp has it, each may rename only her own; a group of her own has nobody else in it. */
function isOpenToRename({ mode, uid, gid }: Stats): boolean {
  if ((mode & sticky) !== 0) return false;
  const isOwnGroup = gid === uid || gid === 0;
  return (mode & (isOwnGroup ? 0o002 : writableByOthers)) !== 0;
}

function requireOwn(path: string, stats: Stats): void {
  if (stats.isSymbolicLink()) throw notFollowed(path);
  if (!stats.isDirectory())
    throw new AccountError("unsafe", `${path} is no folder.`, "Move it away, or use another --data-dir.");
  // Windows has no such owners and modes.
  if (process.platform === "win32") return;
  if (stats.uid !== process.geteuid?.()) {
    throw new AccountError(
      "unsafe",
      `The folder ${path} belongs to another user of this machine, who could read or change what is in it.`,
      "Use another --data-dir.",
    );
  }
  if ((stats.mode & writableByOthers) === 0) return;
  throw new AccountError(
    "unsafe",
    `Others may write into the folder ${path}, so nothing of an account is kept or used there.`,
    `Run: chmod go-w '${path}'`,
  );
}

function notFollowed(path: string): AccountError {
  return new AccountError(
    "unsafe",
    `${path} is a symbolic link, which is not followed.`,
    "Put what it leads to in its place, or use another --data-dir.",
  );
}
