/** What works and what does not: the program's parts, the data directory, the mirror, the ledger, the service. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { readEnvelopeOrThrow } from "../../schema/envelope.ts";
import { openMirrorReader } from "../mirror/mirror.ts";
import type { Credential } from "../service/credential.ts";
import { openService } from "../service/service.ts";
import { proveLedger } from "../sync/ledger/ledger.ts";

export interface Diagnosis {
  readonly isWell: boolean;
  readonly what: string;
  readonly hint: string | null;
}

export interface DiagnoseRequest {
  readonly dataDir: string;
  /** Null to leave the service alone. */
  readonly baseUrl: string | null;
  /** Those that a command may be about, there or not; null when nobody could find out. */
  readonly mirrorFiles: readonly string[] | null;
  /** What is left of each allowance, there or not. */
  readonly ledgerFile: string;
  readonly credential: Credential | null;
}

export async function diagnose(request: DiagnoseRequest): Promise<Diagnosis[]> {
  const diagnoses = [checkSqlite(), checkDataDir(request.dataDir)];
  if (request.mirrorFiles !== null) diagnoses.push(...checkMirrors(request.mirrorFiles));
  if (existsSync(request.ledgerFile)) diagnoses.push(checkLedger(request.ledgerFile));
  if (request.baseUrl !== null) diagnoses.push(await checkService(request.baseUrl, request.credential));
  return diagnoses;
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

/** A data directory is made by the first sync: till then its parent must do. */
function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

function checkMirrors(files: readonly string[]): Diagnosis[] {
  const present = files.filter((file) => existsSync(file));
  if (present.length === 0)
    return [{ isWell: true, what: "There is no mirror yet", hint: "`armoire sync` makes one." }];
  const diagnoses = present.map(checkMirror);
  if (present.length > 1) {
    const hint = "Say which one a command is about with --base-url URL or --mirror FILE.";
    diagnoses.push({ isWell: true, what: `There are ${present.length} mirrors`, hint });
  }
  return diagnoses;
}

function checkMirror(file: string): Diagnosis {
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
  const service = openService({ baseUrl, credential });
  try {
    const fetched = await service.fetch({ url: new URL(baseUrl).href });
    const rel = fetched.outcome === "body" ? readEnvelopeOrThrow(fetched.json).envelope.rel : "";
    return rel === "resource"
      ? { isWell: true, what: `The service at ${baseUrl} answers`, hint: null }
      : { isWell: false, what: `${baseUrl} is not the root of a service`, hint: "Check the base URL." };
  } catch (error) {
    return diagnoseError(error);
  } finally {
    await service.close();
  }
}

/** What was thrown, as something that does not work. */
export function diagnoseError(error: unknown): Diagnosis {
  return { isWell: false, what: messageOf(error), hint: hintOf(error) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hintOf(error: unknown): string | null {
  return error instanceof Error && "hint" in error && typeof error.hint === "string" ? error.hint : null;
}
