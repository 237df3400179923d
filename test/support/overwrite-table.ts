import { readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";

/** Makes the first page of a table unreadable, in a closed SQLite file without a WAL file. */
export function overwriteTable(file: string, table: string): void {
  const db = new Database(file, { readonly: true });
  const pageBytes = Number(db.pragma("page_size", { simple: true }));
  const page = db
    .prepare<[string], number>("select rootpage from sqlite_schema where name = ?")
    .pluck()
    .get(table);
  db.close();
  if (page === undefined) throw new Error(`there is no table ${table}`);
  writeFileSync(file, readFileSync(file).fill(0xa5, (page - 1) * pageBytes, page * pageBytes));
}
