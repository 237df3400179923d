/**
 * An account: whose data is mirrored. Everything of one is in a folder of its own below the data directory, readable by
 * its owner alone; nothing else derives a path from a name. The token is in the system's keychain, or else in a file here.
 */
import { join } from "node:path";
import type { GrantName } from "../mirror/grants.ts";

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
  readonly scopes: readonly GrantName[];
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
