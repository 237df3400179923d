/**
 * Adds an account, or replaces its token. In: a name and a token. Out: the account. The service identifies the token's user,
 * with requests through the account's own ledger, before anything is stored.
 */
import { randomUUID } from "node:crypto";
import { accountPlace, type MirroredUser, readMirroredUser } from "../accounts/account.ts";
import { requireNewAccountName } from "../accounts/account-name.ts";
import { findReadableAccount, listReadableAccounts, withAccountLock } from "../accounts/accounts.ts";
import { AccountError } from "../accounts/errors.ts";
import type { IdentifiedUser } from "../accounts/identify-user.ts";
import type { Keychain } from "../accounts/tokens/keychain.ts";
import { type StoredToken, storeToken } from "../accounts/tokens/tokens.ts";
import { isSameUser, nameOfUser, userOf } from "../mirror/account/user.ts";
import { type Clock, systemClock, toIso } from "../platform/clock.ts";
import type { Credential } from "../service/credentials/credential.ts";
import { readOriginOrThrow } from "../service/same-origin.ts";
import { fetchTokenOwner } from "./run/identify-user.ts";

export interface AddAccountOptions {
  readonly dataDir: string;
  /** 1 to 32 of a-z, 0-9, _ and -. */
  readonly name: string;
  /** The service's root. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. Default: that of the existing account, or `service`. */
  readonly serviceName?: string;
  /** A user's token, from `bearerToken`. */
  readonly token: Credential;
  /** Where the token is kept, if it works; else in a file that only its owner can read. */
  readonly keychain: Keychain;
  /** Cancels the requests. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

export interface AddedAccount extends StoredToken {
  /** Whether the account existed, and only its token is new. */
  readonly isReplaced: boolean;
}

/**
 * Adds an account, or replaces the token of an account of the same user. After an error nothing has changed.
 * @throws AccountError `refused` or `unidentified` by the service; `taken` if the name belongs to another user, or the user
 * has another account; FileError `locked`, `unsafe`, `unwritable`; ServiceError if the service cannot be reached;
 * MirrorError, LedgerError, ServiceSettingsError
 */
export async function addAccount(options: AddAccountOptions): Promise<AddedAccount> {
  const { dataDir, name, token, keychain, clock = systemClock, signal } = options;
  requireNewAccountName(name);
  readOriginOrThrow(options.baseUrl);
  const baseUrl = new URL(options.baseUrl).href;
  const startedAt = toIso(clock.now());
  return await withAccountLock(dataDir, name, startedAt, async () => {
    // An unreadable account is replaced.
    const existing = findReadableAccount(dataDir, name);
    if (existing !== null && existing.baseUrl !== baseUrl)
      throw taken(`The account ${name} belongs to ${existing.baseUrl}, not to ${baseUrl}.`);
    const { ledgerFile, mirrorFile } = accountPlace(dataDir, name);
    const user = await fetchTokenOwner({ baseUrl, token, ledgerFile, clock, ...(signal && { signal }) });
    const owner = existing === null ? readMirroredUser(mirrorFile) : { baseUrl, user: userOf(existing) };
    if (owner !== null) requireSameOwner(name, owner, { baseUrl, user: userOf(user) });
    requireNoOtherAccount(dataDir, name, baseUrl, user);
    const { addedAt = startedAt, keychainEntry = `${name} ${randomUUID()}` } = existing ?? {};
    const serviceName = options.serviceName ?? existing?.serviceName ?? "service";
    const facts = { name, baseUrl, serviceName, addedAt, keychainEntry, tokenAt: startedAt, ...user };
    // A response without the number must not open the account to another user of the same name.
    const userId = user.userId ?? existing?.userId ?? null;
    const kept = await storeToken(dataDir, { ...facts, userId }, token, keychain, signal);
    return { ...kept, isReplaced: existing !== null };
  });
}

/** A user that is not known on either side is accepted. */
function requireSameOwner(name: string, owner: MirroredUser, { baseUrl, user }: MirroredUser): void {
  const isSame = owner.user === null || user === null || isSameUser(owner.user, user);
  if (owner.baseUrl === baseUrl && isSame) return;
  const [ownerName, tokenName] = [owner.user, user].map((known) => (known ? nameOfUser(known) : "a user"));
  throw taken(
    `The name ${name} belongs to ${ownerName} at ${owner.baseUrl}; this token belongs to ${tokenName} at ${baseUrl}.`,
  );
}

/** Two accounts of one user would share an allowance without knowing of each other. */
function requireNoOtherAccount(dataDir: string, name: string, baseUrl: string, user: IdentifiedUser): void {
  const other = listReadableAccounts(dataDir).find(
    (account) =>
      account.name !== name && account.baseUrl === baseUrl && isSameUser(userOf(account), userOf(user)),
  );
  if (other === undefined) return;
  throw new AccountError(
    "taken",
    `This token belongs to ${nameOfUser(userOf(user))}, who already has the account ${other.name}.`,
    `Run \`armoire account add ${other.name}\` to replace its token.`,
  );
}

function taken(message: string): AccountError {
  return new AccountError(
    "taken",
    message,
    "Choose another name, or run `armoire account remove` for this one first.",
  );
}
