/**
 * Stores and reads an account's token: in the system's keychain, or, without one, in a file that only its owner may read.
 * Only this file handles the token as text.
 */
import { readdirSync } from "node:fs";
import { temporaryNameOf } from "../../platform/atomic-file.ts";
import { eraseFile } from "../../platform/erase.ts";
import { toFileError } from "../../platform/errors.ts";
import { readRegularFile } from "../../platform/files/regular-files.ts";
import { maxPrivateBytes, readPrivateFile, writePrivateFile } from "../../platform/private-files.ts";
import {
  bearerToken,
  type Credential,
  hideSecret,
  redact,
  type SecretText,
  tokenText,
} from "../../service/credentials/credential.ts";
import { minSpecificLength } from "../../service/credentials/secret-encodings.ts";
import { type Account, type AccountPlace, accountPlace, accountsFolder } from "../account.ts";
import type { AccountFacts } from "../account-file.ts";
import { findReadableAccount, recordAccount, requireAccountNotRemoved } from "../accounts.ts";
import { AccountError } from "../errors.ts";
import { type Keychain, KeychainError } from "./keychain.ts";
import { markToken } from "./token-marks.ts";

/**
 * Reads the token of an account from the keychain or its file.
 * @throws AccountError `no-token` if it is missing or the keychain fails, `unknown` if the account was removed since it was
 *   read; FileError `unsafe` if others may read it, `locked` if it is being removed
 */
export async function readToken(account: Account, keychain: Keychain): Promise<Credential> {
  const text =
    account.tokenIn === "file"
      ? readPrivateFile(account.tokenFile, { followsLinks: false })
      : await readFromKeychain(account, keychain);
  if (text !== null) return bearerToken(text.trim());
  requireAccountNotRemoved(account);
  throw new AccountError(
    "no-token",
    `The token of the account ${account.name} is missing: ${describeTokenPlace(account)}.`,
    `Store it again with \`armoire account add ${account.name}\`; the mirror stays.`,
  );
}

/**
 * Reads the tokens in the files of a data directory to recognise them, also those that `readToken` would refuse: files of
 * damaged accounts, or that others may read. Files that cannot be read are left out.
 */
export function findTokens(dataDir: string): SecretText[] {
  let names: string[];
  try {
    names = readdirSync(accountsFolder(dataDir));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    try {
      const text = readRegularFile(accountPlace(dataDir, name).tokenFile, maxPrivateBytes).toString().trim();
      // A shorter text may occur by chance.
      return text.length < minSpecificLength ? [] : [hideSecret(text)];
    } catch {
      return [];
    }
  });
}

/** The account with its stored token. */
export interface StoredToken {
  readonly account: Account;
  /** Why the token is in a file; null if it is in the keychain. */
  readonly whyNoKeychain: string | null;
}

/**
 * Records an account and stores its token, replacing an earlier one. After an error or a kill, an existing account has the
 * earlier or the new token, and a new account may lack its token. No token is ever stored without an account.
 * @throws AccountError, FileError
 */
export async function storeToken(
  dataDir: string,
  facts: Omit<AccountFacts, "tokenIn" | "mayBeInKeychain" | "tokenMarks">,
  token: Credential,
  keychain: Keychain,
  signal?: AbortSignal,
): Promise<StoredToken> {
  const earlier = findReadableAccount(dataDir, facts.name);
  const tokenMarks = markToken(token);
  const inKeychain = { ...facts, tokenIn: "keychain", mayBeInKeychain: true, tokenMarks } as const;
  const place = accountPlace(dataDir, facts.name);
  try {
    // Without a keychain, a killed process must not leave an account that seems to have a token there.
    if (earlier === null) {
      await keychain.get(facts.keychainEntry);
      recordAccount(dataDir, inKeychain);
    }
    await keychain.set(facts.keychainEntry, tokenText(token));
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error;
    // Ctrl-C ends the keychain process too: the user did not choose a file.
    signal?.throwIfAborted();
    if (earlier === null) recordAccount(dataDir, { ...facts, tokenIn: "file", mayBeInKeychain: false });
    writePrivateFile(place.tokenFile, `${tokenText(token)}\n`);
    const { mayBeInKeychain = false } = earlier ?? {};
    const account = recordAccount(dataDir, { ...facts, tokenIn: "file", mayBeInKeychain });
    return { account, whyNoKeychain: redact(token, error.message) };
  }
  const account = recordAccount(dataDir, inKeychain);
  eraseTokenFiles(place);
  return { account, whyNoKeychain: null };
}

/**
 * Also erases the temporary file of a killed process.
 * @returns the files that were not overwritten, since they have further hard links
 * @throws FileError `unwritable`
 */
export function eraseTokenFiles({ tokenFile }: AccountPlace): string[] {
  try {
    return [tokenFile, temporaryNameOf(tokenFile)].filter((file) => !eraseFile(file));
  } catch (error) {
    throw toFileError(error, tokenFile);
  }
}

/** For messages: the entry in the keychain, or the file. */
export function describeTokenPlace({ tokenIn, keychainEntry, tokenFile }: Account): string {
  return tokenIn === "file" ? tokenFile : `the system's keychain, armoire, "${keychainEntry}"`;
}

async function readFromKeychain(
  { name, keychainEntry }: Account,
  keychain: Keychain,
): Promise<string | null> {
  try {
    return await keychain.get(keychainEntry);
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error;
    throw new AccountError(
      "no-token",
      `The token of the account ${name} could not be read from the keychain: ${error.message}.`,
      `Unlock the keychain and try again, or store the token again with \`armoire account add ${name}\`.`,
      { cause: error },
    );
  }
}
