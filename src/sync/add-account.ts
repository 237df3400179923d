/**
 * Adds an account: asks the service whose token it is, through the account's own ledger, and only then keeps anything. In:
 * a name and a token. Out: the account. Added again, an account gets another token, if it is the same user's.
 */
import { randomUUID } from "node:crypto";
import {
  accountPlace,
  type MirroredUser,
  readMirroredUser,
  requireNewAccountName,
} from "../accounts/account.ts";
import { findReadableAccount, listReadableAccounts, withAccountLock } from "../accounts/accounts.ts";
import { AccountError } from "../accounts/errors.ts";
import type { IdentifiedUser } from "../accounts/identify-user.ts";
import type { Keychain } from "../accounts/tokens/keychain.ts";
import { type KeptToken, keepToken } from "../accounts/tokens/tokens.ts";
import { isSameUser, nameOfUser, userOf } from "../mirror/account/user.ts";
import { type Clock, systemClock, toIso } from "../platform/clock.ts";
import type { Credential } from "../service/credentials/credential.ts";
import { readOriginOrThrow } from "../service/same-origin.ts";
import { fetchTokenOwner } from "./run/identify-user.ts";

export interface AddAccountOptions {
  readonly dataDir: string;
  readonly name: string;
  readonly baseUrl: string;
  /** The vendor's word in `<name>_url`; `service` unless told. */
  readonly serviceName?: string;
  /** A user's, as `bearerToken` makes it. */
  readonly token: Credential;
  readonly keychain: Keychain;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

export interface AddedAccount extends KeptToken {
  /** Whether the account was there before, and has only another token now. */
  readonly isReplaced: boolean;
}

/**
 * Where it throws, nothing is kept, and what was there is as it was.
 * @throws AccountError `refused` or `unidentified` by the service; `taken` where the name is another user's or the user has
 * another name; `unsafe`, `busy`, `unwritable`; ServiceError where the service cannot be asked; MirrorError, LedgerError,
 * ServiceSettingsError
 */
export async function addAccount(options: AddAccountOptions): Promise<AddedAccount> {
  const { dataDir, name, token, keychain, clock = systemClock, signal } = options;
  requireNewAccountName(name);
  readOriginOrThrow(options.baseUrl);
  const baseUrl = new URL(options.baseUrl).href;
  const startedAt = toIso(clock.now());
  return await withAccountLock(dataDir, name, startedAt, async () => {
    // What cannot be read any more is made anew.
    const earlier = findReadableAccount(dataDir, name);
    if (earlier !== null && earlier.baseUrl !== baseUrl)
      throw taken(`The account ${name} is of ${earlier.baseUrl}, not of ${baseUrl}.`);
    const { ledgerFile, mirrorFile } = accountPlace(dataDir, name);
    const user = await fetchTokenOwner({ baseUrl, token, ledgerFile, clock, ...(signal && { signal }) });
    const owner = earlier === null ? readMirroredUser(mirrorFile) : { baseUrl, user: userOf(earlier) };
    if (owner !== null) requireSame(name, owner, { baseUrl, user: userOf(user) });
    requireNoOther(dataDir, name, baseUrl, user);
    const { addedAt = startedAt, keychainEntry = `${name} ${randomUUID()}` } = earlier ?? {};
    const serviceName = options.serviceName ?? earlier?.serviceName ?? "service";
    const facts = { name, baseUrl, serviceName, addedAt, keychainEntry, tokenAt: startedAt, ...user };
    return { ...(await keepToken(dataDir, facts, token, keychain, signal)), isReplaced: earlier !== null };
  });
}

function requireSame(name: string, owner: MirroredUser, { baseUrl, user }: MirroredUser): void {
  const isSame = owner.user === null || user === null || isSameUser(owner.user, user);
  if (owner.baseUrl === baseUrl && isSame) return;
  const [whose, of] = [owner.user, user].map((one) => (one === null ? "a user" : nameOfUser(one)));
  throw taken(`The name ${name} is of ${whose} at ${owner.baseUrl}; this token is of ${of} at ${baseUrl}.`);
}

/** One user's data lies in one place; two would each spend her allowance and know half. */
function requireNoOther(dataDir: string, name: string, baseUrl: string, user: IdentifiedUser): void {
  const same = listReadableAccounts(dataDir).find(
    (other) => other.name !== name && other.baseUrl === baseUrl && isSameUser(userOf(other), userOf(user)),
  );
  if (same === undefined) return;
  throw new AccountError(
    "taken",
    `This token is of ${nameOfUser(userOf(user))}, who is the account ${same.name} already.`,
    `\`armoire account add ${same.name}\` gives it this token.`,
  );
}

function taken(what: string): AccountError {
  return new AccountError("taken", what, "Choose another name, or `armoire account remove` this one first.");
}
