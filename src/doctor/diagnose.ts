/** Checks the set-up: SQLite, the data directory, mirrors, the ledger, and the service. */
import { accessSync, constants, existsSync, lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { readEnvelopeOrThrow } from "../../schema/envelope.ts";
import { parseJsonBytesOrThrow } from "../../schema/json.ts";
import type { Account } from "../accounts/account.ts";
import { requireSameAccount, withAccountLock } from "../accounts/accounts.ts";
import { listMissingScopes, type ScopeName } from "../mirror/account/token-scopes.ts";
import { isSameUser, nameOfUser, userOf } from "../mirror/account/user.ts";
import { openMirrorReader } from "../mirror/reader.ts";
import { systemClock, toIso } from "../platform/clock.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { openServiceClient } from "../service/client.ts";
import type { Credential } from "../service/credentials/credential.ts";
import { ServiceError } from "../service/errors.ts";
import type { FetchResult } from "../service/fetch-result.ts";
import { describeAllowance } from "../sync/describe-plan.ts";
import { readLatest, readLedger, summarizeAllowance } from "../sync/rate-limit/known-allowance.ts";
import { proveLedger } from "../sync/rate-limit/store/ledger-store.ts";
import { fetchTokenOwner, type TokenOwnerRequest } from "../sync/run/identify-user.ts";
import { openRateLimitedClient } from "../sync/run/rate-limited-client.ts";

export interface DiagnoseRequest {
  readonly dataDir: string;
  /** Null to send no request. */
  readonly baseUrl: string | null;
  /** Candidates: files that do not exist are skipped. Null if they could not be listed. */
  readonly mirrorFiles: readonly string[] | null;
  /** It need not exist. */
  readonly ledgerFile: string;
  readonly credential: Credential | null;
  /** The account of the mirror, the ledger and the credential; null for the catalogue. */
  readonly account: Account | null;
}

/** The result of one check. */
export interface Diagnosis {
  readonly isOk: boolean;
  readonly message: string;
  readonly hint: string | null;
}

/** Never throws for a failed check. It sends one request, or two for an account, unless `baseUrl` is null. */
export async function diagnose(request: DiagnoseRequest): Promise<Diagnosis[]> {
  const { dataDir, mirrorFiles, ledgerFile, baseUrl, credential, account } = request;
  const diagnoses = [checkSqlite(), checkDataDir(dataDir)];
  if (mirrorFiles !== null) diagnoses.push(...checkMirrors(mirrorFiles, account));
  if (existsSync(ledgerFile)) diagnoses.push(checkLedger(ledgerFile, request));
  if (baseUrl === null) return diagnoses;
  const service =
    account !== null && credential !== null
      ? await checkToken(dataDir, account, { baseUrl, token: credential, ledgerFile, clock: systemClock })
      : await checkService(baseUrl, credential, existsSync(ledgerFile) ? ledgerFile : null);
  return [...diagnoses, service];
}

/** A failed check that threw this error. */
export function diagnoseError(error: unknown): Diagnosis {
  return { isOk: false, message: messageOf(error), hint: hintOf(error) };
}

function hintOf(error: unknown): string | null {
  return error instanceof Error && "hint" in error && typeof error.hint === "string" ? error.hint : null;
}

/** Raw SQL: there is no table. */
function checkSqlite(): Diagnosis {
  const db = new Database(":memory:");
  const version = db.prepare("select sqlite_version()").pluck().get();
  db.close();
  return { isOk: true, message: `SQLite ${version} works`, hint: null };
}

function checkDataDir(dataDir: string): Diagnosis {
  try {
    requireWritableFolder(nearestExisting(dataDir));
    return { isOk: true, message: `The data directory ${dataDir} is writable`, hint: null };
  } catch (error) {
    const message = `The data directory ${dataDir} is not writable: ${messageOf(error)}`;
    return { isOk: false, message, hint: "Use another one: --data-dir DIR." };
  }
}

/** @throws a system error */
function requireWritableFolder(path: string): void {
  accessSync(path, constants.W_OK);
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a directory`);
}

/** The first sync creates the data directory, so until then its parent is checked. A broken link counts as existing. */
function nearestExisting(path: string): string {
  return existsSync(path) || isLink(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function checkMirrors(files: readonly string[], account: Account | null): Diagnosis[] {
  const present = files.filter((file) => existsSync(file));
  if (present.length === 0) {
    const [owner, flag] =
      account === null
        ? ["the catalogue", ""]
        : [`the account ${account.name}`, ` --account ${account.name}`];
    const hint = `\`armoire sync${flag}\` creates it.`;
    return [{ isOk: true, message: `There is no mirror of ${owner} yet`, hint }];
  }
  const diagnoses = present.map(checkMirror);
  if (present.length > 1) {
    const hint = "Choose the mirror for a command with --base-url URL or --mirror FILE.";
    diagnoses.push({ isOk: true, message: `There are ${present.length} mirrors`, hint });
  }
  return diagnoses;
}

/** Whether an existing mirror can be opened. */
export function checkMirror(file: string): Diagnosis {
  try {
    openMirrorReader(file).close();
    const hint = "`armoire mirror check` verifies every body and row.";
    return { isOk: true, message: `The mirror ${file} is readable`, hint };
  } catch (error) {
    return diagnoseError(error);
  }
}

/** With the allowance of the credential, which `armoire plan` shows, too. */
function checkLedger(
  file: string,
  { baseUrl, credential, account }: Pick<DiagnoseRequest, "baseUrl" | "credential" | "account">,
): Diagnosis {
  try {
    proveLedger(file);
    const now = systemClock.now();
    const origin = baseUrl === null ? null : new URL(baseUrl).origin;
    // All tokens in an account's ledger belong to one user, and the last one is in use.
    const read = (at: string) =>
      account === null ? readLedger(file, { origin: at, credential }, now) : readLatest(file, at, now);
    const known = origin === null ? null : read(origin);
    const hint = known && `Allowance: ${describeAllowance(summarizeAllowance(known), now)}.`;
    return { isOk: true, message: `The ledger ${file} is readable`, hint };
  } catch (error) {
    return diagnoseError(error);
  }
}

/** @param ledgerFile null if there is none: then no allowance is known */
async function checkService(
  baseUrl: string,
  credential: Credential | null,
  ledgerFile: string | null,
): Promise<Diagnosis> {
  try {
    const response = await fetchRoot(baseUrl, credential, ledgerFile);
    const rel =
      response.outcome === "body"
        ? readEnvelopeOrThrow(parseJsonBytesOrThrow(response.body).value).envelope.rel
        : "";
    return rel === "resource"
      ? { isOk: true, message: `The service at ${baseUrl} responds`, hint: null }
      : { isOk: false, message: `${baseUrl} is not the root of a service`, hint: "Check the base URL." };
  } catch (error) {
    if (isSpent(error)) return notChecked(`The service at ${baseUrl} was not checked`);
    return diagnoseError(error);
  }
}

async function fetchRoot(
  baseUrl: string,
  credential: Credential | null,
  ledgerFile: string | null,
): Promise<FetchResult> {
  const common = { baseUrl, credential, clock: systemClock };
  const limits = { budget: null, reserve: 0, connections: 1 };
  const opened =
    ledgerFile === null ? null : await openRateLimitedClient({ ...common, ...limits, ledgerFile });
  const client = opened?.client ?? openServiceClient(common);
  return await client.fetch({ url: new URL(baseUrl).href }).finally((opened ?? client).close);
}

const isSpent = (error: unknown): boolean => error instanceof ServiceError && error.next === "stop-allowance";

const notChecked = (start: string): Diagnosis => ({
  isOk: true,
  message: `${start}: the allowance is spent`,
  hint: "Run this again after the allowance is renewed.",
});

/** Whether the service accepts the token, and the token belongs to the account's user. */
/** Locked, since the removal of the account would erase its ledger at the same time. */
async function checkToken(dataDir: string, account: Account, request: TokenOwnerRequest): Promise<Diagnosis> {
  const { name } = account;
  try {
    const { scopes, unknownScopes, ...user } = await withAccountLock(
      dataDir,
      name,
      toIso(request.clock.now()),
      async () => {
        requireSameAccount(account);
        return await fetchTokenOwner(request);
      },
    );
    const expected = userOf(account);
    const actual = userOf(user);
    if (!isSameUser(expected, actual)) {
      return {
        isOk: false,
        message: `The token of the account ${name} belongs to ${nameOfUser(actual)}, and the account to ${nameOfUser(expected)}`,
        hint: `Store a token of ${nameOfUser(expected)} with \`armoire account add ${name}\`.`,
      };
    }
    const missing = listMissingScopes({ scopes, unknownScopes });
    return {
      isOk: true,
      message: `The service at ${request.baseUrl} accepts the token of the account ${name}, which grants ${scopes.join(", ")}`,
      hint: describeOtherScopes(missing, unknownScopes),
    };
  } catch (error) {
    if (isSpent(error)) return notChecked(`The token of the account ${name} was not checked at the service`);
    const diagnosis = diagnoseError(error);
    return hasCode(error, "refused")
      ? { ...diagnosis, hint: `${diagnosis.hint} Store it with \`armoire account add ${name}\`.` }
      : diagnosis;
  }
}

function describeOtherScopes(missing: readonly ScopeName[], unknown: readonly ScopeName[]): string | null {
  const sentences = [
    ...(missing.length === 0 ? [] : [`Not granted: ${missing.join(", ")}.`]),
    ...(unknown.length === 0 ? [] : [`Not known until a sync: ${unknown.join(", ")}.`]),
  ];
  return sentences.length === 0 ? null : sentences.join(" ");
}
