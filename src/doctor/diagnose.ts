/** What works and what does not: the program's parts, the data directory, the mirror, the ledger, the service. */

import { accessSync, constants, existsSync, lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { readEnvelopeOrThrow } from "../../schema/envelope.ts";
import { parseJsonBytesOrThrow } from "../../schema/json.ts";
import { scopeNames } from "../mirror/account/token-scopes.ts";
import { isSameUser, nameOfUser, userOf } from "../mirror/account/user.ts";
import { openMirrorReader } from "../mirror/reader.ts";
import { systemClock } from "../platform/clock.ts";
import { openServiceClient } from "../service/client.ts";
import type { Credential } from "../service/credentials/credential.ts";
import { ServiceError } from "../service/errors.ts";
import { proveLedger } from "../sync/rate-limit/ledger.ts";
import { fetchTokenOwner, type TokenOwnerRequest } from "../sync/run/identify-user.ts";

export interface DiagnoseRequest {
  readonly dataDir: string;
  /** Null to leave the service alone. */
  readonly baseUrl: string | null;
  /** Those that a command may be about, there or not; null when nobody could find out. */
  readonly mirrorFiles: readonly string[] | null;
  /** What is left of each allowance, there or not. */
  readonly ledgerFile: string;
  readonly credential: Credential | null;
  /** Whose mirror, ledger and token these are; null for the catalogue's. */
  readonly account: TokenOwner | null;
}

export async function diagnose(request: DiagnoseRequest): Promise<Diagnosis[]> {
  const { dataDir, mirrorFiles, ledgerFile, baseUrl, credential, account } = request;
  const diagnoses = [checkSqlite(), checkDataDir(dataDir)];
  if (mirrorFiles !== null) diagnoses.push(...checkMirrors(mirrorFiles, account));
  if (existsSync(ledgerFile)) diagnoses.push(checkLedger(ledgerFile));
  if (baseUrl === null) return diagnoses;
  const asked =
    account !== null && credential !== null
      ? await diagnoseToken(account, { baseUrl, token: credential, ledgerFile, clock: systemClock })
      : await checkService(baseUrl, credential);
  return [...diagnoses, asked];
}

function checkSqlite(): Diagnosis {
  const db = new Database(":memory:");
  const version = db.prepare("select sqlite_version()").pluck().get();
  db.close();
  return { isWell: true, what: `SQLite ${version} works`, hint: null };
}

function checkDataDir(dataDir: string): Diagnosis {
  try {
    requireWritableFolder(nearestExisting(dataDir));
    return { isWell: true, what: `The data directory ${dataDir} can be written`, hint: null };
  } catch (error) {
    const what = `The data directory ${dataDir} cannot be written: ${messageOf(error)}`;
    return { isWell: false, what, hint: "Name another with --data-dir." };
  }
}

/** @throws a system error */
function requireWritableFolder(path: string): void {
  accessSync(path, constants.W_OK);
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a directory`);
}

/** A data directory is made by the first sync: till then its parent must do. A link that leads nowhere is in the way. */
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

function checkMirrors(files: readonly string[], account: TokenOwner | null): Diagnosis[] {
  const present = files.filter((file) => existsSync(file));
  if (present.length === 0) {
    const [whose, flag] =
      account === null
        ? ["the catalogue", ""]
        : [`the account ${account.name}`, ` --account ${account.name}`];
    const hint = `\`armoire sync${flag}\` makes one.`;
    return [{ isWell: true, what: `There is no mirror of ${whose} yet`, hint }];
  }
  const diagnoses = present.map(checkMirror);
  if (present.length > 1) {
    const hint = "Say which one a command is about with --base-url URL or --mirror FILE.";
    diagnoses.push({ isWell: true, what: `There are ${present.length} mirrors`, hint });
  }
  return diagnoses;
}

/** Whether a mirror that is there can be read. */
export function checkMirror(file: string): Diagnosis {
  try {
    openMirrorReader(file).close();
    const hint = "`armoire mirror check` proves every body and row.";
    return { isWell: true, what: `The mirror ${file} can be read`, hint };
  } catch (error) {
    return diagnoseError(error);
  }
}

function checkLedger(file: string): Diagnosis {
  try {
    proveLedger(file);
    return { isWell: true, what: `The ledger ${file} can be read`, hint: null };
  } catch (error) {
    return diagnoseError(error);
  }
}

async function checkService(baseUrl: string, credential: Credential | null): Promise<Diagnosis> {
  const service = openServiceClient({ baseUrl, credential });
  try {
    const fetched = await service.fetch({ url: new URL(baseUrl).href });
    const rel =
      fetched.outcome === "body"
        ? readEnvelopeOrThrow(parseJsonBytesOrThrow(fetched.body).value).envelope.rel
        : "";
    return rel === "resource"
      ? { isWell: true, what: `The service at ${baseUrl} answers`, hint: null }
      : { isWell: false, what: `${baseUrl} is not the root of a service`, hint: "Check the base URL." };
  } catch (error) {
    return diagnoseError(error);
  } finally {
    await service.close();
  }
}

/** One thing that works or does not, as `doctor` tells of it. */
export interface Diagnosis {
  readonly isWell: boolean;
  readonly what: string;
  readonly hint: string | null;
}

/** What was thrown, as something that does not work. */
export function diagnoseError(error: unknown): Diagnosis {
  return { isWell: false, what: messageOf(error), hint: hintOf(error) };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hintOf(error: unknown): string | null {
  return error instanceof Error && "hint" in error && typeof error.hint === "string" ? error.hint : null;
}

/** Whether the service still takes an account's token for hers: accepted, not accepted, another user's, or not to be asked. */

/** An account, as far as its token must fit it. */
export interface TokenOwner {
  readonly name: string;
  readonly userId: number | null;
  readonly username: string | null;
}

export async function diagnoseToken(owner: TokenOwner, asked: TokenOwnerRequest): Promise<Diagnosis> {
  try {
    const { scopes, ...user } = await fetchTokenOwner(asked);
    const [hers, seen] = [userOf(owner), userOf(user)];
    if (!isSameUser(hers, seen)) {
      return {
        isWell: false,
        what: `The token of the account ${owner.name} is of ${nameOfUser(seen)}, and the account is of ${nameOfUser(hers)}`,
        hint: `\`armoire account add ${owner.name}\` takes a token of ${nameOfUser(hers)}.`,
      };
    }
    const missing = scopeNames.filter((scope) => !scopes.includes(scope));
    return {
      isWell: true,
      what: `The service at ${asked.baseUrl} accepts the token of the account ${owner.name}, which grants ${scopes.join(", ")}`,
      hint: missing.length === 0 ? null : `Not granted: ${missing.join(", ")}.`,
    };
  } catch (error) {
    if (error instanceof ServiceError && error.next === "stop-allowance") {
      const what = `Whether the service accepts the token of the account ${owner.name} was not asked: the allowance is spent`;
      return { isWell: true, what, hint: "Ask again after it is renewed." };
    }
    const diagnosis = diagnoseError(error);
    const isRefused = error instanceof Error && "code" in error && error.code === "refused";
    return isRefused
      ? { ...diagnosis, hint: `${diagnosis.hint} \`armoire account add ${owner.name}\` takes it.` }
      : diagnosis;
  }
}
