/**
 * An account: a user of the service whose data is mirrored. All its files are in a folder of its own, readable only by its
 * owner. Only this file derives paths from an account's name.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ScopeName } from "../mirror/account/token-scopes.ts";
import { type AccountUser, readAccountUser } from "../mirror/account/user.ts";
import { readMirror } from "../mirror/reader.ts";

/** The files of an account. */
export interface AccountPlace {
  readonly folder: string;
  readonly accountFile: string;
  /** Used if there is no keychain. */
  readonly tokenFile: string;
  /** It is missing before the first sync. */
  readonly mirrorFile: string;
  /** The allowance of this user; other accounts and the catalogue have ledgers of their own. */
  readonly ledgerFile: string;
  /** About the newest backup; missing before the first. */
  readonly newestBackupFile: string;
}

export interface Account extends AccountPlace {
  /** Chosen by the user: the folder's name. */
  readonly name: string;
  /** The service's root. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. */
  readonly serviceName: string;
  /** The service's number of the user; null if the service gave none. */
  readonly userId: number | null;
  /** Null if the service gave only the number. */
  readonly username: string | null;
  /** ISO 8601, UTC. */
  readonly addedAt: string;
  /** `file`: a file beside the mirror that only its owner can read. */
  readonly tokenIn: "keychain" | "file";
  /** The name of the token in the keychain: unique to this account, wherever its folder is. */
  readonly keychainEntry: string;
  /** Whether the keychain may still have an earlier token, although the current one is in a file. */
  readonly mayBeInKeychain: boolean;
  /** When the token was stored: ISO 8601, UTC. */
  readonly tokenAt: string;
  /** The scopes that the service showed to be granted at that time. */
  readonly scopes: readonly ScopeName[];
  /** The scopes of which only a request for their list shows whether they are granted. */
  readonly unknownScopes: readonly ScopeName[];
}

export const accountsFolder = (dataDir: string): string => join(dataDir, "accounts");

/**
 * Where the files of an account are, also of one that does not exist.
 * @param name 1 to 32 of a-z, 0-9, _ and -
 */
export function accountPlace(dataDir: string, name: string): AccountPlace {
  const folder = join(accountsFolder(dataDir), name);
  return {
    folder,
    accountFile: join(folder, "account.json"),
    tokenFile: join(folder, "token"),
    mirrorFile: join(folder, "mirror.sqlite"),
    ledgerFile: join(folder, "ledger.sqlite"),
    newestBackupFile: join(folder, "newest-backup.json"),
  };
}

/** The service and the user of an account's mirror. */
export interface MirroredUser {
  readonly baseUrl: string;
  /** Null until a sync has identified the user. */
  readonly user: AccountUser | null;
}

/** @returns null if there is no mirror. @throws MirrorError */
export function readMirroredUser(mirrorFile: string): MirroredUser | null {
  if (!existsSync(mirrorFile)) return null;
  return readMirror(mirrorFile, ({ db, identity }) => ({
    baseUrl: identity.baseUrl,
    user: readAccountUser(db),
  }));
}
