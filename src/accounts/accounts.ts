/**
 * The accounts of a data directory: reads, lists, records and locks them. It knows no tokens (`tokens.ts`) and not the
 * service.
 */
import { lstatSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ArmoireError, FileError, toFileError } from "../platform/errors.ts";
import { isLocked, type Lock, shareLock, takeLock } from "../platform/process-lock.ts";
import { similarNames } from "../platform/text/fuzzy-names.ts";
import { type Account, type AccountPlace, accountPlace, accountsFolder } from "./account.ts";
import { type AccountFacts, readAccountFile, writeAccountFile } from "./account-file.ts";
import { makeAccountFolder, requireAccountFolder, requireAccountsFolder } from "./account-folder.ts";
import { isAccountName, requireAccountName, requireNewAccountName } from "./account-name.ts";
import { AccountError } from "./errors.ts";

/**
 * Reads what is stored of an account; its token stays where it is.
 * @throws AccountError `bad-name`, `unknown`, `damaged`, `newer`; FileError `unsafe` if others may change its folder
 */
export function readAccount(dataDir: string, name: string): Account {
  const account = findAccount(dataDir, name);
  if (account === null) throw unknown(dataDir, name);
  return account;
}

/** As `readAccount`; null if there is none. */
export function findAccount(dataDir: string, name: string): Account | null {
  requireAccountName(name);
  const place = accountPlace(dataDir, name);
  if (!exists(place.folder)) return null;
  return withFileErrors(place.folder, () => {
    requireAccountFolder(dataDir, name);
    return readAccountFile(place, name);
  });
}

/** As `findAccount`; null also if `account.json` is damaged. */
export function findReadableAccount(dataDir: string, name: string): Account | null {
  try {
    return findAccount(dataDir, name);
  } catch (error) {
    if (error instanceof AccountError && error.code === "damaged") return null;
    throw error;
  }
}

/**
 * To be called once its mirror is locked: an account may have been removed since it was read.
 * @throws AccountError `unknown`, also if another account has its name now; as `readAccount`
 */
export function requireSameAccount(account: Account): void {
  const { name, keychainEntry } = account;
  if (readAccountFile(account, name)?.keychainEntry === keychainEntry) return;
  throw new AccountError(
    "unknown",
    `The account ${name} was removed by another command.`,
    "`armoire account list` shows the accounts.",
  );
}

/**
 * To be called if its token is missing: a removal erases the token first.
 * @throws FileError `locked` while accounts are added or removed; as `requireSameAccount`
 */
export function requireAccountNotRemoved(account: Account): void {
  const dataDir = dirname(dirname(account.folder));
  if (isLocked(lockPath(dataDir))) shareLock(lockPath(dataDir), busyMessage(dataDir)).release();
  requireSameAccount(account);
}

/**
 * All accounts of a data directory, sorted by name; none without the directory.
 * @throws as `readAccount`, if one of them cannot be read
 */
export function listAccounts(dataDir: string): Account[] {
  return listAccountNames(dataDir).map((name) => readAccount(dataDir, name));
}

/** As `listAccounts`, without accounts that cannot be read. @throws FileError `unsafe` */
export function listReadableAccounts(dataDir: string): Account[] {
  return listAccountNames(dataDir).flatMap((name) => {
    try {
      return [readAccount(dataDir, name)];
    } catch (error) {
      if (error instanceof ArmoireError) return [];
      throw error;
    }
  });
}

/** Sorted; includes accounts that cannot be read. @throws FileError `unsafe` */
export function listAccountNames(dataDir: string): string[] {
  return listFolders(dataDir)
    .filter(({ place }) => exists(place.accountFile))
    .map(({ name }) => name);
}

/** Folders of removed accounts, sorted by name. @throws FileError `unsafe` */
export function listRemovedAccounts(
  dataDir: string,
): { readonly name: string; readonly place: AccountPlace }[] {
  return listFolders(dataDir).filter(({ place }) => !exists(place.accountFile));
}

/** @throws AccountError `bad-name`; `unknown` if there is neither the account nor a folder of a removed one */
export function requireAccountOrFolder(dataDir: string, name: string): void {
  requireAccountName(name);
  if (exists(accountPlace(dataDir, name).folder)) return;
  removeNameOfKilledHolder(dataDir);
  throw unknown(dataDir, name);
}

/** A removal that is killed at its very end leaves the file that names it as the holder of the lock. */
function removeNameOfKilledHolder(dataDir: string): void {
  if (!exists(`${lockPath(dataDir)}.lock`)) return;
  try {
    shareLock(lockPath(dataDir), busyMessage(dataDir)).release();
  } catch (error) {
    // Held by a live process, or not to be opened: then the name stays.
    if (!(error instanceof FileError)) throw error;
  }
}

/** Creates or updates the account; durable on return. @throws AccountError, FileError */
export function recordAccount(dataDir: string, facts: AccountFacts): Account {
  requireNewAccountName(facts.name);
  makeAccountFolder(dataDir, facts.name);
  writeAccountFile(accountPlace(dataDir, facts.name), facts);
  return readAccount(dataDir, facts.name);
}

function unknown(dataDir: string, name: string): AccountError {
  const [similar] = similarNames(name, listAccountNames(dataDir), 1);
  return new AccountError(
    "unknown",
    `There is no account called ${name} in ${dataDir}.`,
    similar === undefined
      ? "`armoire account list` shows the accounts; `armoire account add NAME` adds one."
      : `Did you mean ${similar}? \`armoire account list\` shows the accounts.`,
  );
}

function listFolders(dataDir: string): { readonly name: string; readonly place: AccountPlace }[] {
  const folder = accountsFolder(dataDir);
  if (!exists(folder)) return [];
  return withFileErrors(folder, () => {
    requireAccountsFolder(dataDir);
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isAccountName(entry.name))
      .map(({ name }) => name)
      .sort()
      .map((name) => ({ name, place: accountPlace(dataDir, name) }));
  });
}

function exists(path: string): boolean {
  return withFileErrors(path, () => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
}

function withFileErrors<Result>(path: string, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    throw toFileError(error, path);
  }
}

/**
 * Runs an action while the account's folder exists and no other process adds or removes accounts. If it fails, new folders
 * are removed, so a rejected token leaves no trace.
 * @param startedAt ISO 8601; shown to a process that finds the lock taken
 * @throws AccountError, FileError, and the action's errors
 */
export async function withAccountLock<Result>(
  dataDir: string,
  name: string,
  startedAt: string,
  action: () => Promise<Result>,
): Promise<Result> {
  const { folder } = accountPlace(dataDir, name);
  const created = makeAccountFolder(dataDir, name);
  let isDone = false;
  try {
    const lock = lockAccounts(dataDir, startedAt);
    try {
      // A removal may have ended just before.
      created.unshift(...makeAccountFolder(dataDir, name));
      const result = await action();
      isDone = true;
      return result;
    } finally {
      if (!isDone && created.includes(folder)) tryToRemove(folder);
      if (!isDone && created.includes(accountsFolder(dataDir))) lock.releaseAndRemove();
      else lock.release();
    }
  } finally {
    if (!isDone) removeEmptyFolders(created);
  }
}

/** Used after an error, which is the one to report. */
function tryToRemove(folder: string): void {
  try {
    rmSync(folder, { recursive: true });
  } catch {
    // `account remove` shows and removes what is left.
  }
}

function removeEmptyFolders(folders: readonly string[]): void {
  for (const path of folders) {
    try {
      rmdirSync(path);
    } catch {
      // Already removed, or in use by another process.
    }
  }
}

/** No account has this path: its lock files have names with a dot. */
const lockPath = (dataDir: string): string => join(accountsFolder(dataDir), "accounts");

const busyMessage = (dataDir: string): string => `An account is being added or removed in ${dataDir}`;

/**
 * Only one process at a time adds or removes accounts. The folder must exist.
 * @param startedAt ISO 8601
 * @throws FileError `locked`, naming the holder; `unwritable`
 */
export function lockAccounts(dataDir: string, startedAt: string): Lock {
  return takeLock(lockPath(dataDir), {
    startedAt,
    busyMessage: busyMessage(dataDir),
  });
}
