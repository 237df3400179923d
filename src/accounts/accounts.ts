/**
 * The accounts of a data directory. In: names. Out: accounts, or an AccountError that says what to do. It knows neither
 * the service nor the command line, and no token: those are given and taken in `tokens.ts`.
 */
import { lstatSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ArmoireError, toFileError } from "../platform/errors.ts";
import { similarNames } from "../platform/fuzzy-names.ts";
import { type Lock, takeLock } from "../platform/process-lock.ts";
import {
  type Account,
  type AccountPlace,
  accountPlace,
  accountsFolder,
  isAccountName,
  requireAccountName,
  requireNewAccountName,
} from "./account.ts";
import { type AccountFacts, readAccountFile, writeAccountFile } from "./account-file.ts";
import { makeAccountFolder, requireAccountFolder, requireAccountsFolder } from "./account-folder.ts";
import { AccountError } from "./errors.ts";

/**
 * @throws AccountError `bad-name`; `unknown`, with what was perhaps meant; `unsafe` where others could have put it there;
 * `damaged`, `newer`
 */
export function readAccount(dataDir: string, name: string): Account {
  const account = findAccount(dataDir, name);
  if (account === null) throw unknown(dataDir, name);
  return account;
}

/** As `readAccount`; null where there is none. */
export function findAccount(dataDir: string, name: string): Account | null {
  requireAccountName(name);
  const place = accountPlace(dataDir, name);
  if (!isThere(place.folder)) return null;
  return explaining(place.folder, () => {
    requireAccountFolder(dataDir, name);
    return readAccountFile(place, name);
  });
}

/** As `findAccount`; null also where what was written of it is damaged. */
export function findReadableAccount(dataDir: string, name: string): Account | null {
  try {
    return findAccount(dataDir, name);
  } catch (error) {
    if (error instanceof AccountError && error.code === "damaged") return null;
    throw error;
  }
}

/** In the order of their names. @throws AccountError as `readAccount` does, where one of them cannot be read */
export function listAccounts(dataDir: string): Account[] {
  return listAccountNames(dataDir).map((name) => readAccount(dataDir, name));
}

/** As `listAccounts`, without those that cannot be read: what is wrong with one is in nobody else's way. @throws AccountError `unsafe` */
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

/** In their order; also of accounts that cannot be read. @throws AccountError `unsafe` */
export function listAccountNames(dataDir: string): string[] {
  return listFolders(dataDir)
    .filter(({ place }) => isThere(place.accountFile))
    .map(({ name }) => name);
}

/** What removed accounts left: folders without an account, in the order of their names. @throws AccountError `unsafe` */
export function listLeftFolders(dataDir: string): { readonly name: string; readonly place: AccountPlace }[] {
  return listFolders(dataDir).filter(({ place }) => !isThere(place.accountFile));
}

/** @throws AccountError `bad-name`, and `unknown` where there is neither such an account nor anything left of one */
export function requireAccountOrLeft(dataDir: string, name: string): void {
  requireAccountName(name);
  if (!isThere(accountPlace(dataDir, name).folder)) throw unknown(dataDir, name);
}

/** Makes the account, or writes anew what is known of it; durable when this returns. @throws AccountError */
export function recordAccount(dataDir: string, facts: AccountFacts): Account {
  requireNewAccountName(facts.name);
  makeAccountFolder(dataDir, facts.name);
  writeAccountFile(accountPlace(dataDir, facts.name), facts);
  return readAccount(dataDir, facts.name);
}

function unknown(dataDir: string, name: string): AccountError {
  const [alike] = similarNames(name, listAccountNames(dataDir), 1);
  return new AccountError(
    "unknown",
    `There is no account called ${name} in ${dataDir}.`,
    alike === undefined
      ? "`armoire account list` shows the accounts, `armoire account add NAME` makes one."
      : `Did you mean ${alike}? \`armoire account list\` shows the accounts.`,
  );
}

function listFolders(dataDir: string): { readonly name: string; readonly place: AccountPlace }[] {
  const folder = accountsFolder(dataDir);
  if (!isThere(folder)) return [];
  return explaining(folder, () => {
    requireAccountsFolder(dataDir);
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isAccountName(entry.name))
      .map(({ name }) => name)
      .sort()
      .map((name) => ({ name, place: accountPlace(dataDir, name) }));
  });
}

function isThere(path: string): boolean {
  return explaining(path, () => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
}

function explaining<Result>(path: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw toFileError(error, path);
  }
}

/**
 * Has an account's folder there, and no other process adding or removing accounts, for as long as `act` takes. Where that
 * fails, what was made for it is taken back: a token that is refused leaves no trace.
 * @param startedAt ISO 8601
 * @throws AccountError, MirrorError, what `act` throws
 */
export async function withAccountLock<Result>(
  dataDir: string,
  name: string,
  startedAt: string,
  act: () => Promise<Result>,
): Promise<Result> {
  const { folder } = accountPlace(dataDir, name);
  const made = makeAccountFolder(dataDir, name);
  let isDone = false;
  try {
    const lock = lockAccounts(dataDir, startedAt);
    try {
      const result = await act();
      isDone = true;
      return result;
    } finally {
      if (!isDone && made.includes(folder)) rmSync(folder, { recursive: true });
      if (!isDone && made.includes(accountsFolder(dataDir))) lock.releaseAndRemove();
      else lock.release();
    }
  } finally {
    if (!isDone) takeBack(made);
  }
}

function takeBack(made: readonly string[]): void {
  for (const path of made) {
    try {
      rmdirSync(path);
    } catch {
      // It is gone already, or another process has put something there.
    }
  }
}

/** No account can have this name: there is a dot in those of its files. */
const lockedName = (dataDir: string): string => join(accountsFolder(dataDir), "accounts");

/**
 * One process at a time adds or removes accounts. The folder must be there.
 * @param startedAt ISO 8601
 * @throws FileError `locked`, naming the holder; `unwritable`
 */
export function lockAccounts(dataDir: string, startedAt: string): Lock {
  return takeLock(lockedName(dataDir), {
    startedAt,
    busyMessage: `An account is being added or removed in ${dataDir}`,
  });
}
