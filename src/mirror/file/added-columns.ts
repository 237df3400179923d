/**
 * Columns that later versions have added to tables of released mirrors. Only a sync migrates a mirror, so readers of one that
 * was not synced since see the new columns as null.
 */
import type { Connection } from "./connection.ts";

const addedColumns: Readonly<Record<string, readonly string[]>> = { _resource: ["retry_at"] };

/** The columns that a table of this file lacks. */
export function missingColumns(db: Connection, table: string): string[] {
  const added = addedColumns[table] ?? [];
  if (added.length === 0) return [];
  const present = db
    .prepare<[string], string>("select name from pragma_table_info(?, 'main')")
    .pluck()
    .all(table);
  return added.filter((column) => !present.includes(column));
}

/** Shows tables that lack columns as temporary views that have them. */
export function showAddedColumns(db: Connection): void {
  for (const table of Object.keys(addedColumns)) {
    const missing = missingColumns(db, table);
    if (missing.length === 0) continue;
    const nulls = missing.map((column) => `null as ${column}`).join(", ");
    db.exec(`create temp view ${table} as select *, ${nulls} from main.${table}`);
  }
}

/** Undoes `showAddedColumns`. */
export function hideAddedColumns(db: Connection): void {
  for (const table of Object.keys(addedColumns)) db.exec(`drop view if exists temp.${table}`);
}
