/** The tables and columns of this version, read from an empty mirror in memory, and those that an older file lacks. */
import Database from "better-sqlite3";
import type { Connection } from "./connection.ts";
import { migrateMirror } from "./migrate.ts";

/** Table to columns, both in their order in the file. Raw SQL: tables of the schema. */
export async function readSchemaColumns(): Promise<ReadonlyMap<string, readonly string[]>> {
  const db = new Database(":memory:");
  try {
    await migrateMirror(db);
    const tables = db
      .prepare<[], string>(
        `select s.name from sqlite_schema s join pragma_table_list l on l.name = s.name and l.schema = 'main'
         where l.type <> 'shadow' order by s.rowid`,
      )
      .pluck()
      .all();
    const columns = db
      .prepare<[string], string>("select name from pragma_table_xinfo(?) order by cid")
      .pluck();
    return new Map(tables.map((table) => [table, columns.all(table)]));
  } finally {
    db.close();
  }
}

/**
 * Columns and tables that later versions have added to released mirrors. Only a sync migrates a mirror, so readers of one that
 * was not synced since see the new columns as null, and the new tables as empty.
 */
const addedColumns: Readonly<Record<string, readonly string[]>> = { _resource: ["retry_at"] };

/** Only the columns that readers use. */
const addedTables: Readonly<Record<string, readonly string[]>> = {
  _snapshot: [
    "id",
    "root_hash",
    "taken_on",
    "seen_by",
    "source",
    "signed_by",
    "sequence",
    "sample_size",
    "condemned_at",
  ],
  _loaded: ["resource_id", "seq", "snapshot_id", "etag", "sampled", "validator_run", "bytes_run"],
  _linked_check: ["resource_id", "seq", "checked_run", "checked_at"],
};

const columnsIn = (db: Connection, table: string): string[] =>
  db.prepare<[string], string>("select name from pragma_table_info(?, 'main')").pluck().all(table);

/** The columns that a table of this file lacks. */
export function missingColumns(db: Connection, table: string): string[] {
  const added = addedColumns[table] ?? [];
  if (added.length === 0) return [];
  const present = columnsIn(db, table);
  return added.filter((column) => !present.includes(column));
}

/** Whether an earlier version has written the file, without this table. */
export const isMissing = (db: Connection, table: string): boolean => columnsIn(db, table).length === 0;

/** Shows tables that the file lacks, or that lack columns, as temporary views that have them. */
export function showAddedColumns(db: Connection): void {
  for (const table of Object.keys(addedColumns)) {
    const missing = missingColumns(db, table);
    if (missing.length === 0) continue;
    const nulls = missing.map((column) => `null as ${column}`).join(", ");
    db.exec(`create temp view ${table} as select *, ${nulls} from main.${table}`);
  }
  showAddedTables(db);
}

export function showAddedTables(db: Connection): void {
  for (const [table, columns] of Object.entries(addedTables)) {
    if (!isMissing(db, table)) continue;
    const nulls = columns.map((column) => `null as ${column}`).join(", ");
    db.exec(`create temp view ${table} as select ${nulls} where false`);
  }
}
