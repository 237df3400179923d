/**
 * An account: whose data is mirrored. Everything of one is in a folder of its own below the data directory, readable by
 * its owner alone; nothing else derives a path from a name. The token is in the system's keychain, or else in a file here.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ScopeName } from "../mirror/account/token-scopes.ts";
import { type AccountUser, readAccountUser } from "../mirror/account/user.ts";
import { readMirror } from "../mirror/reader.ts";
import { AccountError } from "./errors.ts";

/** The files of an account. */
export interface AccountPlace {
  readonly folder: string;
  readonly accountFile: string;
  /** Only where there is no keychain. */
  readonly tokenFile: string;
  readonly mirrorFile: string;
  /** Of its own: no other account, and not the catalogue, spends this user's allowance. */
  readonly ledgerFile: string;
}

export interface Account extends AccountPlace {
  readonly name: string;
  readonly baseUrl: string;
  /** The vendor's word in `<name>_url`. */
  readonly serviceName: string;
  /** As the service numbers its users; null where it does not tell. */
  readonly userId: number | null;
  /** Null where the service tells only the number. */
  readonly username: string | null;
  /** ISO 8601, UTC. */
  readonly addedAt: string;
  readonly tokenIn: "keychain" | "file";
  /** Under which the keychain has the token: of this account alone, wherever its folder is. */
  readonly keychainEntry: string;
  /** Whether the keychain got a token of the account once, and may have it though a later one is in a file. */
  readonly mayBeInKeychain: boolean;
  /** When the token was last given: ISO 8601, UTC. */
  readonly tokenAt: string;
  /** As seen then. */
  readonly scopes: readonly ScopeName[];
}

export const accountsFolder = (dataDir: string): string => join(dataDir, "accounts");

/** @param name one that `requireAccountName` lets through */
export function accountPlace(dataDir: string, name: string): AccountPlace {
  const folder = join(accountsFolder(dataDir), name);
  return {
    folder,
    accountFile: join(folder, "account.json"),
    tokenFile: join(folder, "token"),
    mirrorFile: join(folder, "mirror.sqlite"),
    ledgerFile: join(folder, "ledger.sqlite"),
  };
}

/** What an account may be called. A name is also a folder's name, on every platform, so it is short and plain. */

const plain = /^[a-z0-9][a-z0-9_-]{0,31}$/;
const windowsDevice = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/** @throws AccountError `bad-name`, which does not show the name: it may be a token in the wrong place */
export function requireAccountName(name: string): void {
  if (looksLikeToken(name)) {
    throw new AccountError(
      "bad-name",
      "What stands in the place of the account's name looks like a token, so it is not shown here.",
      "A token belongs on the prompt, into --token-stdin or --token-file; others may read the command line, so get a new one.",
    );
  }
  if (isAccountName(name)) return;
  throw new AccountError(
    "bad-name",
    "That is no name for an account.",
    "It may have up to 32 of a-z, 0-9, _ and -, begins with a letter or digit, and is no device of Windows such as con or nul.",
  );
}

/** What the catalogue's own requests are sent as, where an account's are sent as its name. */
export const cataloguePrincipal = "catalogue";

/** For an account that is to be made. @throws AccountError `bad-name` as `requireAccountName` does, and for what is reserved */
export function requireNewAccountName(name: string): void {
  requireAccountName(name);
  if (name !== cataloguePrincipal) return;
  throw new AccountError(
    "bad-name",
    `No account can be called ${cataloguePrincipal}: workers know the service's catalogue by this name.`,
    "Choose another name.",
  );
}

export function isAccountName(name: string): boolean {
  return plain.test(name) && !windowsDevice.test(name);
}

/** Whether a word on the command line may be a secret: a long run of letters and digits, or a UUID. */
export function looksLikeToken(word: string): boolean {
  const runs = word.match(/[a-z\d]{16,}/gi) ?? [];
  return (
    runs.some((run) => /\d/.test(run) && /[a-z]/i.test(run)) ||
    /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/i.test(word)
  );
}

/** Whose data a mirror holds. */
export interface MirroredUser {
  readonly baseUrl: string;
  /** Null where no sync has got that far. */
  readonly user: AccountUser | null;
}

/** @returns null where there is no mirror. @throws MirrorError */
export function readMirroredUser(mirrorFile: string): MirroredUser | null {
  if (!existsSync(mirrorFile)) return null;
  return readMirror(mirrorFile, ({ db, identity }) => ({
    baseUrl: identity.baseUrl,
    user: readAccountUser(db),
  }));
}
