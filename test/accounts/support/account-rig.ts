/** Accounts in a data directory of their own, with invented tokens. */
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Account } from "../../../src/accounts/account.ts";
import type { AccountFacts } from "../../../src/accounts/account-file.ts";
import type { Keychain } from "../../../src/accounts/tokens/keychain.ts";
import { type StoredToken, storeToken } from "../../../src/accounts/tokens/tokens.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { brokenKeychain } from "./memory-keychain.ts";

export const someTime = "2026-01-15T12:00:00.000Z";

export const noKeychain: Keychain = brokenKeychain("there is none");

export function factsOf(name: string, userId = 1000): Omit<AccountFacts, "tokenIn" | "mayBeInKeychain"> {
  return {
    ...{ name, baseUrl: "https://api.example/", serviceName: "service", userId, username: "Zoë" },
    ...{ addedAt: someTime, tokenAt: someTime, keychainEntry: `${name} ${randomUUID()}` },
    scopes: ["profile", "bras"],
    unknownScopes: [],
  };
}

export interface AccountRig extends AsyncDisposable {
  /** It does not exist yet. */
  readonly dataDir: string;
  keep(name: string, token: string, keychain?: Keychain): Promise<StoredToken>;
  /** With its token in a file. */
  account(name: string, token?: string): Promise<Account>;
  /** With files in place of a mirror, a ledger and a picture. */
  accountWithData(name: string): Promise<Account>;
}

export const dataFiles = ["mirror.sqlite", "mirror.sqlite-wal", "mirror.sqlite-shm", "ledger.sqlite"];

export async function startAccountRig(): Promise<AccountRig> {
  const folder = await temporaryFolder();
  const dataDir = join(folder.path, "data");
  const keep: AccountRig["keep"] = (name, token, keychain = noKeychain) =>
    storeToken(dataDir, factsOf(name), bearerToken(token), keychain);
  const account: AccountRig["account"] = async (name, token = "canary-token-0001") =>
    (await keep(name, token)).account;
  return {
    ...{ dataDir, keep, account },
    async accountWithData(name) {
      const added = await account(name);
      for (const file of dataFiles) writeFileSync(join(added.folder, file), `private ${file}\n`.repeat(5000));
      mkdirSync(join(added.folder, "media"), { recursive: true });
      writeFileSync(join(added.folder, "media/avatar.png"), "private");
      return added;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
