/** The tables and columns of a mirror, read from an empty one in memory. */
import Database from "better-sqlite3";
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
