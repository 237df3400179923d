/** Opens the ledger's SQLite file: creates and migrates it for writing, and refuses a file that is not a ledger. */
import { closeSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import type { Connection } from "../../../mirror/file/connection.ts";
import { migrate } from "../../../mirror/file/migrate.ts";
import { hasCode } from "../../../platform/errors.ts";
import { requireDatabaseFile, requireOneName } from "../../../platform/files/regular-files.ts";
import { makeFolders, syncFolder } from "../../../platform/folders.ts";
import { LedgerError } from "../errors.ts";
import { ledgerMigrations } from "./migrations.ts";

/** The default place of a mirror's ledger. */
export const ledgerFileBeside = (mirrorFile: string): string => join(dirname(mirrorFile), "ledger.sqlite");

/** Marks the file as a ledger ("arml"). */
const applicationId = 0x61726d6c;

/** @throws LedgerError, FileError `not-a-file`, and errors of SQLite and the system */
export async function openLedgerFile(file: string): Promise<Connection> {
  makeFolders(dirname(file));
  createPrivately(file);
  if (requireDatabaseFile(file)) requireOneName(file);
  const db = new Database(file, { fileMustExist: true });
  try {
    await takeTurn(() => prepareFile(db, file));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** @returns null for an empty file. @throws LedgerError, and errors of SQLite */
export function openLedgerFileForReading(file: string): Connection | null {
  requireDatabaseFile(file);
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    if (requireLedger(db, file) === "ledger") return db;
    db.close();
    return null;
  } catch (error) {
    db.close();
    throw error;
  }
}

async function prepareFile(db: Connection, file: string): Promise<void> {
  // First: a file with tables and without this mark belongs to another program.
  if (requireLedger(db, file) === "empty") db.pragma(`application_id = ${applicationId}`);
  await migrate(db, ledgerMigrations);
  db.pragma("journal_mode = WAL");
  // A lease that a power cut undoes would be taken, and spent, a second time.
  db.pragma("synchronous = FULL");
  // The first read creates the log. SQLite flushes the names of both files too, but ignores a failure of that.
  db.pragma("schema_version");
  syncFolder(dirname(file));
  // The store does it and reports its errors, which SQLite's own checkpoints ignore.
  db.pragma("wal_autocheckpoint = 0");
}

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Runs one preparation at a time in this process. SQLite waits for a lock by blocking the thread, on which the migration
 * that holds the lock has to continue.
 */
function takeTurn(work: () => Promise<void>): Promise<void> {
  const turn = lastTurn.then(work);
  lastTurn = turn.catch(() => {});
  return turn;
}

function requireLedger(db: Connection, file: string): "ledger" | "empty" {
  // Raw, as in `migrate`: neither table is one of the ledger's own.
  const names = db.prepare<[], string>("select name from sqlite_schema").pluck().all();
  if (names.length === 0) return "empty";
  if (db.pragma("application_id", { simple: true }) !== applicationId || !names.includes("_migration"))
    throw new LedgerError("not-a-ledger", file);
  const applied = db.prepare<[], string>("select name from _migration").pluck().all();
  if (applied.some((name) => !Object.hasOwn(ledgerMigrations, name))) throw new LedgerError("newer", file);
  return "ledger";
}

/** Created with its mode at once: there is no instant at which other users could open it. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}
