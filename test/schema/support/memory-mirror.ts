import Database from "better-sqlite3";
import { migrateMirror } from "../../../src/mirror/file/migrate.ts";
import { fromStored } from "../../../src/mirror/rows/cells.ts";

export type MemoryMirror = Database.Database;

/** A migrated mirror in memory, with one run and these resources (URL to kind). */
export async function memoryMirror(resources: Readonly<Record<string, string>> = {}): Promise<MemoryMirror> {
  const db = new Database(":memory:");
  await migrateMirror(db);
  db.exec(
    "insert into _run (id, started_at, mode, scope_json) values (1, '2025-11-03T00:00:00Z', 'full', '{}')",
  );
  const insert = db.prepare("insert into _resource (url, kind, state, first_run) values (?, ?, 'held', 1)");
  for (const [url, kind] of Object.entries(resources)) insert.run(url, kind);
  return db;
}

/** All rows of a table or view, as stored cells. */
export function readTable(db: MemoryMirror, name: string): Record<string, unknown>[] {
  const rows = db.prepare(`select * from ${name}`).safeIntegers().all() as Record<string, unknown>[];
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [column, fromStored(value)])),
  );
}

export function namesOf(db: MemoryMirror, type: "table" | "view"): string[] {
  return db
    .prepare<[string], string>("select name from sqlite_schema where type = ? order by name")
    .pluck()
    .all(type);
}

export function columnsIn(db: MemoryMirror, name: string): string[] {
  return db
    .prepare<[string], string>("select name from pragma_table_xinfo(?) order by cid")
    .pluck()
    .all(name);
}
