/**
 * Removes an account: its token, then `account.json`, then, with `purge`, its data. If the process is killed in between,
 * removing the account again completes it.
 */
import { existsSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { isCatalogueLinked } from "../mirror/account/catalogue-linking.ts";
import { findLinkedEntities } from "../mirror/account/catalogue-links.ts";
import { lockMirror } from "../mirror/file/connection.ts";
import { catalogueMirrorFile } from "../mirror/file/paths.ts";
import { readMirror } from "../mirror/reader.ts";
import { temporaryNameOf } from "../platform/atomic-file.ts";
import { eraseFile, eraseFolder } from "../platform/erase.ts";
import { hasCode, toFileError } from "../platform/errors.ts";
import { syncFolder } from "../platform/folders.ts";
import { type Account, type AccountPlace, accountPlace } from "./account.ts";
import { requireAccountFolder } from "./account-folder.ts";
import { findReadableAccount, lockAccounts, requireAccountOrFolder } from "./accounts.ts";
import { type Keychain, KeychainError } from "./tokens/keychain.ts";
import { eraseTokenFiles } from "./tokens/tokens.ts";

export interface RemoveAccountOptions {
  readonly dataDir: string;
  readonly name: string;
  /** Also erases the mirror and everything else in the account's folder. */
  readonly purge: boolean;
  /** Where the token may be, such as `systemKeychain`. */
  readonly keychain: Keychain;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly startedAt: string;
}

export interface RemovedAccount {
  readonly name: string;
  /** The path of the account's folder. */
  readonly folder: string;
  /** False if an earlier removal had left only the folder. */
  readonly wasAccount: boolean;
  /** The remaining files, without locks. */
  readonly kept: readonly string[];
  /** Removed files whose content stays under other names, their hard links; they were not overwritten. */
  readonly hardLinked: readonly string[];
  /** Data about the account that stays in the catalogue's mirror after a purge; null for none. */
  readonly remainingCatalogue: RemainingCatalogueData | null;
  /** Why the keychain may still have the token, and its name there; null if it does not. */
  readonly remainingToken: { readonly entry: string | null; readonly why: string } | null;
}

/**
 * Erases an account's token and settings, and with `purge` its mirror.
 * @throws AccountError `unknown` if there is neither the account nor a folder of a removed one; FileError `unsafe`,
 *   `locked`, `unwritable`; MirrorError `locked` while a sync writes the mirror
 */
export async function removeAccount(options: RemoveAccountOptions): Promise<RemovedAccount> {
  const { dataDir, name, purge, keychain, startedAt } = options;
  requireAccountOrFolder(dataDir, name);
  const place = accountPlace(dataDir, name);
  try {
    requireAccountFolder(dataDir, name);
    const accountsLock = lockAccounts(dataDir, startedAt);
    try {
      const mirrorLock = lockMirror(place.mirrorFile, startedAt);
      try {
        const wasAccount = existsSync(place.accountFile);
        const account = findReadableAccount(dataDir, name);
        const remainingCatalogue = purge
          ? findRemainingCatalogueData(dataDir, place.mirrorFile, account?.baseUrl ?? null)
          : null;
        const hardLinked = eraseTokenFiles(place);
        const remainingToken = await deleteToken(place, account, keychain);
        // In one step: half overwritten, it would be the file of a damaged account.
        const former = temporaryNameOf(place.accountFile);
        // A killed command may have left one, which the renaming would replace without overwriting it.
        if (!eraseFile(former)) hardLinked.push(former);
        if (existsSync(place.accountFile)) renameSync(place.accountFile, former);
        syncFolder(place.folder);
        if (!eraseFile(former)) hardLinked.push(place.accountFile);
        syncFolder(place.folder);
        // Not the lock file: opening and closing it would release the lock that this process holds.
        if (purge) hardLinked.push(...eraseFolder(place.folder, [basename(lockFileOf(place))]));
        return {
          name,
          folder: place.folder,
          wasAccount,
          kept: listRemaining(place),
          hardLinked,
          remainingCatalogue,
          remainingToken,
        };
      } finally {
        if (listRemaining(place).length > 0) mirrorLock.release();
        else {
          mirrorLock.releaseAndRemove();
          removeFolder(place);
        }
      }
    } finally {
      accountsLock.release();
    }
  } catch (error) {
    throw toFileError(error, place.folder);
  }
}

async function deleteToken(
  place: AccountPlace,
  account: Account | null,
  keychain: Keychain,
): Promise<RemovedAccount["remainingToken"]> {
  if (account === null)
    return existsSync(place.accountFile) ? { entry: null, why: "account.json cannot be read" } : null;
  try {
    await keychain.delete(account.keychainEntry);
    return null;
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error;
    return account.mayBeInKeychain ? { entry: account.keychainEntry, why: error.message } : null;
  }
}

function listRemaining({ folder }: AccountPlace): string[] {
  return readdirSync(folder).filter((file) => !/\.(lock|holder\.json)$/.test(file));
}

const lockFileOf = ({ mirrorFile }: AccountPlace): string => `${mirrorFile}.lock`;

function removeFolder({ folder }: AccountPlace): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    // A sync that began meanwhile has locked the mirror again: it finds no account, and removes the lock and the folder.
    if (!hasCode(error, "ENOTEMPTY") && !hasCode(error, "ENOENT")) throw error;
  }
  syncFolder(dirname(folder));
}

/** Brands, models and sizes that were fetched for the account: they show which bras the user has. */
export interface RemainingCatalogueData {
  /** The catalogue's mirror. */
  readonly file: string;
  /** How many entities linked from the user's bras are in it; null if one of the mirrors cannot be read. */
  readonly entities: number | null;
}

/**
 * Must be called before the account's mirror is erased. Unreadable files are no error: they must not prevent erasing.
 * @param baseUrl the account's; null if its file cannot be read
 * @returns null if nothing was fetched for the account
 */
export function findRemainingCatalogueData(
  dataDir: string,
  mirrorFile: string,
  baseUrl: string | null,
): RemainingCatalogueData | null {
  if (!existsSync(mirrorFile)) return null;
  const linking = readOrNull(() => readLinking(mirrorFile));
  const catalogueUrl = linking?.baseUrl ?? baseUrl;
  if (linking?.isLinked === false || catalogueUrl === null) return null;
  const file = catalogueMirrorFile(dataDir, catalogueUrl);
  if (!existsSync(file)) return null;
  const entities = linking && readOrNull(() => countHeld(mirrorFile, file));
  return entities === 0 ? null : { file, entities };
}

const readLinking = (mirrorFile: string) =>
  readMirror(mirrorFile, ({ db, identity }) => ({
    baseUrl: identity.baseUrl,
    isLinked: isCatalogueLinked(db),
  }));

const countHeld = (mirrorFile: string, catalogueFile: string): number =>
  findLinkedEntities(mirrorFile, catalogueFile).filter(({ state }) => state === "held").length;

function readOrNull<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch {
    return null;
  }
}
