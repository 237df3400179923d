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

/** Makes free pages, and writes into the first what the first page of a table begins with, as a write that was lost leaves it. */
export function overwriteFreePage(file: string): void {
  const db = new Database(file);
  db.exec("create table a (b); insert into a values (zeroblob(9000)); drop table a");
  const pageBytes = Number(db.pragma("page_size", { simple: true }));
  db.pragma("wal_checkpoint(truncate)");
  db.close();
  const bytes = readFileSync(file);
  const first = bytes.readUInt32BE(32);
  if (first === 0) throw new Error("there is no free page");
  bytes.write("0d00000001038f00", (first - 1) * pageBytes, "hex");
  writeFileSync(file, bytes);
}
