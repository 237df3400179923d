/** The ledger's SQLite file: opened, made when there is none, refused when it is not ours. */
import { closeSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { hasCode } from "../../platform/errors.ts";
import { makeFolders } from "../../platform/folders.ts";
import { LedgerError } from "./errors.ts";

/** Where the ledger of a mirror is unless it is told: beside it. */
export const ledgerFileBeside = (mirrorFile: string): string => join(dirname(mirrorFile), "ledger.sqlite");

export type LedgerDatabase = Database.Database;

/** Marks the file as ours ("arml"). */
const applicationId = 0x61726d6c;
const version = 1;

const tables = `
  create table window (
    origin text not null,
    credential text not null,
    state text not null,
    primary key (origin, credential)
  ) strict, without rowid;
  create table session (
    id text primary key,
    pid integer not null,
    host text not null,
    seen_at integer not null
  ) strict, without rowid;`;

/** @throws LedgerError, or what SQLite or the system throws */
export function openLedgerFile(file: string): LedgerDatabase {
  makeFolders(dirname(file));
  createPrivately(file);
  const db = new Database(file);
  try {
    const makeTables = db.transaction(() => {
      if (requireOurs(db, file) === "ours") return;
      db.exec(tables);
      db.pragma(`application_id = ${applicationId}`);
      db.pragma(`user_version = ${version}`);
    });
    makeTables.immediate();
    db.pragma("journal_mode = WAL");
    // What is not durable when a request is sent would be spent twice after a power cut.
    db.pragma("synchronous = FULL");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** @returns null when there is no ledger yet. @throws LedgerError, or what SQLite throws */
export function openLedgerFileForReading(file: string): LedgerDatabase | null {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    if (requireOurs(db, file) === "ours") return db;
    db.close();
    return null;
  } catch (error) {
    db.close();
    throw error;
  }
}

function requireOurs(db: LedgerDatabase, file: string): "ours" | "empty" {
  if (db.prepare("select 1 from sqlite_schema limit 1").get() === undefined) return "empty";
  if (db.pragma("application_id", { simple: true }) !== applicationId)
    throw new LedgerError("not-a-ledger", file);
  if (Number(db.pragma("user_version", { simple: true })) > version) throw new LedgerError("newer", file);
  return "ours";
}

/** With its mode at once: there is no instant at which others could open it. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}
