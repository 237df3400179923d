/** Which tables a statement reads, from SQLite's own program for it: exact also for views, aliases and subqueries. */
import type Database from "better-sqlite3";
import type { BoundValues } from "./bind-parameters.ts";
import type { TablesRead } from "./query-process.ts";

interface Instruction {
  readonly opcode: string;
  /** The root page of the opened table or index. */
  readonly p2: number;
  /** The schema: 0 for `main`, 1 for `temp`, 2 for the attached one. */
  readonly p3: number;
}

export function listTablesRead(
  database: Database.Database,
  sql: string,
  values: BoundValues,
  hasCatalogue: boolean,
): TablesRead {
  const opened = explain(database, sql, values).filter(({ opcode }) => opcode === "OpenRead");
  const tablesIn = (schema: string, index: number): string[] => {
    const names = new Map(
      database
        .prepare<[], { page: number; name: string }>(
          `select rootpage as page, tbl_name as name from ${schema}.sqlite_schema where rootpage > 0`,
        )
        .all()
        .map(({ page, name }) => [page, name]),
    );
    return [
      ...new Set(opened.filter(({ p3 }) => p3 === index).flatMap(({ p2 }) => names.get(p2) ?? [])),
    ].sort();
  };
  return { main: tablesIn("main", 0), catalogue: hasCatalogue ? tablesIn("catalogue", 2) : [] };
}

/** Nothing for a statement that cannot be explained, such as PRAGMA. */
function explain(database: Database.Database, sql: string, values: BoundValues): Instruction[] {
  try {
    return database.prepare<[BoundValues], Instruction>(`explain ${sql}`).all(values);
  } catch {
    return [];
  }
}
