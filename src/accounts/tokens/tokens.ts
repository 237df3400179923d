/**
 * Where an account's token is kept: in the system's keychain, or, where there is none, in a file that only its owner may
 * read. It is a credential on the way in and on the way out; its text is seen here and nowhere else.
 */

import { temporaryNameOf } from "../../platform/atomic-file.ts";
import { eraseFile } from "../../platform/erase.ts";
import { toFileError } from "../../platform/errors.ts";
import { readPrivateFile, writePrivateFile } from "../../platform/private-files.ts";
import { bearerToken, type Credential, redact, tokenText } from "../../service/credentials/credential.ts";
import { type Account, type AccountPlace, accountPlace } from "../account.ts";
import type { AccountFacts } from "../account-file.ts";
import { findReadableAccount, recordAccount } from "../accounts.ts";
import { AccountError } from "../errors.ts";
import { type Keychain, KeychainError } from "./keychain.ts";

/** @throws AccountError `no-token` where it is not there or cannot be had, `unsafe` where others could read it */
export async function readToken(account: Account, keychain: Keychain): Promise<Credential> {
  const text =
    account.tokenIn === "file"
      ? readPrivateFile(account.tokenFile, { followsLinks: false })
      : await askKeychain(account, keychain);
  if (text !== null) return bearerToken(text.trim());
  throw new AccountError(
    "no-token",
    `The token of the account ${account.name} is not where it was kept: ${describeTokenPlace(account)}.`,
    `\`armoire account add ${account.name}\` takes it again; what is mirrored stays.`,
  );
}

/** Where it was kept, and why not in a keychain. */
export interface KeptToken {
  readonly account: Account;
  /** Null where the keychain has it. */
  readonly whyNoKeychain: string | null;
}

/**
 * Records an account and keeps its token, in place of an earlier one. Where it throws, or is killed, an account that was
 * there has the earlier token or the new one; a new account is one whose token is to be given again, and there is never a
 * token that no account knows of.
 * @throws AccountError
 */
export async function keepToken(
  dataDir: string,
  facts: Omit<AccountFacts, "tokenIn" | "mayBeInKeychain">,
  token: Credential,
  keychain: Keychain,
  signal?: AbortSignal,
): Promise<KeptToken> {
  const earlier = findReadableAccount(dataDir, facts.name);
  const inKeychain = { ...facts, tokenIn: "keychain", mayBeInKeychain: true } as const;
  if (earlier === null) recordAccount(dataDir, inKeychain);
  const place = accountPlace(dataDir, facts.name);
  try {
    await keychain.set(facts.keychainEntry, tokenText(token));
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error;
    // Ctrl-C ends what asks the keychain too: that is no wish for a file.
    signal?.throwIfAborted();
    writePrivateFile(place.tokenFile, `${tokenText(token)}\n`);
    const { mayBeInKeychain = false } = earlier ?? {};
    const account = recordAccount(dataDir, { ...facts, tokenIn: "file", mayBeInKeychain });
    return { account, whyNoKeychain: redact(token, error.message) };
  }
  const account = recordAccount(dataDir, inKeychain);
  eraseTokenFiles(place);
  return { account, whyNoKeychain: null };
}

/** Also what a killed process left of one. @throws AccountError `unwritable` */
export function eraseTokenFiles({ tokenFile }: AccountPlace): void {
  try {
    for (const file of [tokenFile, temporaryNameOf(tokenFile)]) eraseFile(file);
  } catch (error) {
    throw toFileError(error, tokenFile);
  }
}

/** For people: the keychain, or the file. */
export function describeTokenPlace({ tokenIn, keychainEntry, tokenFile }: Account): string {
  return tokenIn === "file" ? tokenFile : `the system's keychain, armoire, "${keychainEntry}"`;
}

async function askKeychain({ name, keychainEntry }: Account, keychain: Keychain): Promise<string | null> {
  try {
    return await keychain.get(keychainEntry);
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error;
    throw new AccountError(
      "no-token",
      `The keychain does not give the token of the account ${name}: ${error.message}.`,
      `Unlock it and try again, or give the token anew with \`armoire account add ${name}\`.`,
      { cause: error },
    );
  }
}
