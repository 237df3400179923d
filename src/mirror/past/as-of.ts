/**
 * The mirror as it was when a run had closed. In: a connection that only reads, and the run. Out: on that connection,
 * every table and view says under its own name what it said then, so that any SQL reads the past. It works by temporary
 * views, which SQLite finds before the file's own: of the tables as they were, and over these the file's own views.
 *
 * What is not remembered is not made up: `checked_at` is null where the resource was checked again since, and errors,
 * oddities and the order of pages (`_issue`, `_page`, `_pass`, `_meta`) are those of today.
 */

import type { Connection } from "../file/connection.ts";
import { storedColumns, type VersionedTable, versionedTables } from "../rows/versioned-rows.ts";

/**
 * @param runId a run that has ended; 0 is before the first one, when nothing was known
 */
export function createAsOfViews(db: Connection, runId: number): void {
  const views = db
    .prepare<[], string>("select sql from sqlite_schema where type = 'view' order by rowid")
    .pluck()
    .all();
  for (const [table, select] of Object.entries(tablesAsOf(db, runId)))
    db.exec(`create temp view ${table} as ${select}`);
  for (const sql of views) db.exec(sql.replace(/^create\s+view/i, "create temp view"));
}

/** What makes another connection to the file show the past that this one shows: statements to be run in this order. */
export function readShownViews(db: Connection): readonly string[] {
  return db
    .prepare<[], string>("select sql from temp.sqlite_schema where type = 'view' order by rowid")
    .pluck()
    .all()
    .map((sql) => sql.replace(/^create\s+view/i, "create temp view"));
}

/** What the column of `_resource r` held when a run had closed, as SQL. */
export function stateAt(column: string, runId: number): string {
  // The first state that ended after that run; where none did, the present one began before it ended. Ids and runs begin
  // with 1, so that 0 can stand for none.
  return `nullif(coalesce((select coalesce(p.${column}, 0) from main._resource_past p
    where p.id = r.id and p.to_run > ${runId} order by p.to_run limit 1), r.${column}), 0)`;
}

/** The rows that a table held when a run had closed, as SQL. */
export function rowsAt(table: VersionedTable, runId: number, condition = "true"): string {
  const { name } = table;
  const columns = [...storedColumns(table), "from_run"].join(", ");
  // Few rows of the past were there at one moment: told so, SQLite begins with them, not with all resources once more.
  return `select ${columns} from main.${name} where from_run <= ${runId} and ${condition}
    union all select ${columns} from main.${name}_past
    where from_run <= ${runId} and likelihood(to_run > ${runId}, 0.0001) and ${condition}`;
}

function tablesAsOf(db: Connection, runId: number): Readonly<Record<string, string>> {
  const unlessCheckedSince = (column: string) => `iif(last_checked_run <= ${runId}, ${column}, null)`;
  const unlessSince = (column: string) => `iif(to_run <= ${runId}, ${column}, null)`;
  /** The columns of a table, some of them as they were. */
  const columnsThen = (table: string, past: Readonly<Record<string, string>>) =>
    db
      .prepare<[string], string>("select name from pragma_table_info(?) order by cid")
      .pluck()
      .all(table)
      .map((column) => `${past[column] ?? column} as ${column}`)
      .join(", ");
  const resource = columnsThen("_resource", {
    kind: stateAt("kind", runId),
    owner_id: stateAt("owner_id", runId),
    state: stateAt("state", runId),
    gone_run: stateAt("gone_run", runId),
    checked_run: unlessCheckedSince("checked_run"),
    last_checked_run: unlessCheckedSince("last_checked_run"),
    checked_at: unlessCheckedSince("checked_at"),
    fetched_run: unlessCheckedSince("fetched_run"),
    attempts: "0",
    error: "null",
    absent_run: "null",
    absent_by: "null",
  });
  const revision = columnsThen("_revision", {
    to_run: unlessSince("to_run"),
    seen_run: unlessSince("seen_run"),
    seen_at: unlessSince("seen_at"),
  });
  return {
    _run: `select * from main._run where id <= ${runId}`,
    _resource: `select ${resource} from main._resource r where first_run <= ${runId}`,
    _revision: `select ${revision} from main._revision where from_run <= ${runId}`,
    _search: `
      select id, resource_id, kind, text, from_run, null as to_run from main._search
      where from_run <= ${runId} and (to_run is null or to_run > ${runId})`,
    ...Object.fromEntries(versionedTables.map((table) => [table.name, rowsAt(table, runId)])),
  };
}
