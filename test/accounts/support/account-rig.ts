/** Accounts in a data directory of their own, with invented tokens. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Account } from "../../../src/accounts/account.ts";
import type { Keychain } from "../../../src/accounts/tokens/keychain.ts";
import { type StoredToken, storeToken } from "../../../src/accounts/tokens/tokens.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { factsOf, noKeychain } from "./facts.ts";

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
