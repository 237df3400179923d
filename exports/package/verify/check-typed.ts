/** Checks Parquet and SQLite files against the rows that the descriptor states. */
import { open } from "node:fs/promises";
import Database from "better-sqlite3";
import { findDatabaseLog } from "../../../src/platform/files/regular-files.ts";
import { quoted } from "../../formats/sqlite.ts";
import type { RowProblem } from "./check-rows.ts";

/** Reads the footer. */
export async function checkParquet(path: string, rows: number): Promise<readonly RowProblem[]> {
  // Most exports have no such file.
  const { readRowCount } = await import("../../formats/parquet/contents.ts");
  try {
    return (await readRowCount(path)) === BigInt(rows) ? [] : ["wrong-rows"];
  } catch {
    return ["unreadable"];
  }
}

/** Counts the rows of each table. @param rows by table */
export async function checkSqlite(
  path: string,
  rows: Readonly<Record<string, number>>,
): Promise<readonly RowProblem[]> {
  // With a log beside it, SQLite would read something else, wait for a pipe, or write.
  if (findDatabaseLog(path) !== null || !(await isPlain(path))) return ["unreadable"];
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true });
    db.pragma("trusted_schema = off");
    const problems = new Set<RowProblem>();
    for (const [table, count] of Object.entries(rows)) {
      if (!isTable(db, table)) problems.add("unreadable");
      else if (
        db
          .prepare(`select count(*) from ${quoted(table)}`)
          .pluck()
          .get() !== count
      )
        problems.add("wrong-rows");
    }
    if (db.prepare("select 1 from pragma_foreign_key_check limit 1").get()) problems.add("broken-reference");
    return [...problems];
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    return ["unreadable"];
  } finally {
    db?.close();
  }
}

/** Not a view, whose rows may be computed without end. */
const isTable = (db: Database.Database, name: string): boolean =>
  db
    .prepare("select 1 from pragma_table_list where schema = 'main' and type = 'table' and name = ?")
    .get(name) !== undefined;

/** In WAL mode, reading would create files beside it. */
async function isPlain(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0);
    return buffer[18] === 1 && buffer[19] === 1;
  } finally {
    await file.close();
  }
}
