/**
 * Removes an account: its token, then what is known of it, then, if told, its data. In that order, so that whoever is
 * killed in between leaves an account or a folder that removing it again finishes.
 */

import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { isCatalogueLinked } from "../mirror/account/catalogue-linking.ts";
import { findLinkedEntities } from "../mirror/account/catalogue-links.ts";
import { lockMirror } from "../mirror/file/connection.ts";
import { catalogueMirrorFile } from "../mirror/file/paths.ts";
import { readMirror } from "../mirror/reader.ts";
import { eraseFolder } from "../platform/erase.ts";
import { toFileError } from "../platform/errors.ts";
import { syncFolder } from "../platform/folders.ts";
import { type Account, type AccountPlace, accountPlace } from "./account.ts";
import { requireAccountFolder } from "./account-folder.ts";
import { findReadableAccount, lockAccounts, requireAccountOrLeft } from "./accounts.ts";
import { type Keychain, KeychainError } from "./tokens/keychain.ts";
import { eraseTokenFiles } from "./tokens/tokens.ts";

export interface RemoveAccountOptions {
  readonly dataDir: string;
  readonly name: string;
  /** Erases the mirror and all else that is in the account's folder too. */
  readonly purge: boolean;
  readonly keychain: Keychain;
  /** ISO 8601; told to whoever finds the mirror locked. */
  readonly startedAt: string;
}

export interface RemovedAccount {
  readonly name: string;
  readonly folder: string;
  /** Whether there was an account; else only what an earlier removal had left. */
  readonly wasAccount: boolean;
  /** Files that are still there, without locks. */
  readonly kept: readonly string[];
  /** What of hers is in the mirror of the service's catalogue, and stays there although all else is erased; else null. */
  readonly catalogueLeft: RemainingCatalogueData | null;
  /** Why the keychain may still have the token, and under which name; null where that is not so. */
  readonly tokenLeft: { readonly entry: string | null; readonly why: string } | null;
}

/**
 * @throws AccountError `unknown` where there is neither an account nor anything left of one, `unsafe`, `busy`,
 * `unwritable`; MirrorError `locked` while a sync writes the mirror
 */
export async function removeAccount(options: RemoveAccountOptions): Promise<RemovedAccount> {
  const { dataDir, name, purge, keychain, startedAt } = options;
  requireAccountOrLeft(dataDir, name);
  const place = accountPlace(dataDir, name);
  try {
    requireAccountFolder(dataDir, name);
    const accountsLock = lockAccounts(dataDir, startedAt);
    try {
      const mirrorLock = lockMirror(place.mirrorFile, startedAt);
      try {
        const wasAccount = existsSync(place.accountFile);
        const account = findReadableAccount(dataDir, name);
        const catalogueLeft = purge
          ? findRemainingCatalogueData(dataDir, place.mirrorFile, account?.baseUrl ?? null)
          : null;
        const tokenLeft = await dropToken(place, account, keychain);
        rmSync(place.accountFile, { force: true });
        syncFolder(place.folder);
        // Opening and closing the file of a lock that this process holds would end it.
        if (purge) eraseFolder(place.folder, [basename(lockFileOf(place))]);
        return { name, folder: place.folder, wasAccount, kept: listKept(place), catalogueLeft, tokenLeft };
      } finally {
        if (listKept(place).length > 0) mirrorLock.release();
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

async function dropToken(
  place: AccountPlace,
  account: Account | null,
  keychain: Keychain,
): Promise<RemovedAccount["tokenLeft"]> {
  eraseTokenFiles(place);
  if (account === null)
    return existsSync(place.accountFile) ? { entry: null, why: "the account's file cannot be read" } : null;
  try {
    await keychain.delete(account.keychainEntry);
    return null;
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error;
    return account.mayBeInKeychain ? { entry: account.keychainEntry, why: error.message } : null;
  }
}

function listKept({ folder }: AccountPlace): string[] {
  return readdirSync(folder).filter((file) => !/\.(lock|holder\.json)$/.test(file));
}

const lockFileOf = ({ mirrorFile }: AccountPlace): string => `${mirrorFile}.lock`;

function removeFolder({ folder }: AccountPlace): void {
  rmdirSync(folder);
  syncFolder(dirname(folder));
}

/**
 * What erasing an account leaves: the brands, models and sizes that were fetched for her are in the mirror of the service's
 * catalogue, which is not hers alone, and tell which bras she has. In: her mirror, before it goes.
 */

export interface RemainingCatalogueData {
  /** The catalogue's mirror. */
  readonly file: string;
  /** How many of those that her bras link to are in it; null where one of the two mirrors cannot be read. */
  readonly entities: number | null;
}

/**
 * What cannot be read keeps nobody from erasing it.
 * @param baseUrl the account's; null where its file cannot be read
 * @returns null where nothing was asked for on her account, or nothing of it is held
 */
export function findRemainingCatalogueData(
  dataDir: string,
  mirrorFile: string,
  baseUrl: string | null,
): RemainingCatalogueData | null {
  if (!existsSync(mirrorFile)) return null;
  const wish = readOrNull(() => readWish(mirrorFile));
  const of = wish?.baseUrl ?? baseUrl;
  if (wish?.isWanted === false || of === null) return null;
  const file = catalogueMirrorFile(dataDir, of);
  if (!existsSync(file)) return null;
  const entities = wish && readOrNull(() => countHeld(mirrorFile, file));
  return entities === 0 ? null : { file, entities };
}

const readWish = (mirrorFile: string) =>
  readMirror(mirrorFile, ({ db, identity }) => ({
    baseUrl: identity.baseUrl,
    isWanted: isCatalogueLinked(db),
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
