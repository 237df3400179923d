/**
 * Shows a mirror as it was when a run had closed. In: a read-only connection, and the run. Out: temporary views on that
 * connection, with the names of the tables and views of the file. SQLite finds them first, so any SQL reads the past.
 *
 * What the mirror does not store is not invented: `checked_at` is null if the resource was checked again since, and errors,
 * issues and the order of pages (`_issue`, `_page`, `_pass`, `_meta`) are the current ones. All SQL here is raw: views of
 * tables by name.
 */
import { isMissing, missingColumns, showAddedTables } from "../file/columns.ts";
import type { Connection } from "../file/connection.ts";
import { readViews } from "../file/definitions.ts";
import { storedColumns, type VersionedTable, versionedTables } from "../rows/versioned-rows.ts";

/**
 * @param runId a run that has ended; 0 shows the empty mirror before the first run
 */
export function createAsOfViews(db: Connection, runId: number): void {
  // Those of the present, which may lack columns or differ.
  for (const name of shownViews(db, "name")) db.exec(`drop view temp."${name.replaceAll('"', '""')}"`);
  showAddedTables(db);
  for (const [table, select] of Object.entries(tablesAsOf(db, runId)))
    db.exec(`create temp view ${table} as ${select}`);
  for (const sql of readViews(db)) db.exec(sql);
}

/** The statements, in order, that create the same views on another connection to the file. */
export function readShownViews(db: Connection): readonly string[] {
  return shownViews(db, "sql").map((sql) => sql.replace(/^create\s+view/i, "create temp view"));
}

const shownViews = (db: Connection, column: "name" | "sql"): readonly string[] =>
  db
    .prepare<[], string>(`select ${column} from temp.sqlite_schema where type = 'view' order by rowid`)
    .pluck()
    .all();

/** SQL expression: the value of a column of `_resource r` when a run had closed. */
export function stateAt(column: string, runId: number): string {
  // The first state that ended after the run, or else the current state. In the inner query 0 stands for null, which would
  // fall through to the current state: ids and runs begin with 1.
  return `nullif(coalesce((select coalesce(p.${column}, 0) from main._resource_past p
    where p.id = r.id and p.to_run > ${runId} order by p.to_run limit 1), r.${column}), 0)`;
}

/** SELECT statement: the rows of a table when a run had closed. */
export function rowsAt(table: VersionedTable, runId: number, condition = "true"): string {
  const { name } = table;
  const columns = [...storedColumns(table), "from_run"].join(", ");
  // Few past rows are valid at any one run. With this hint SQLite reads them first, instead of all resources again.
  return `select ${columns} from main.${name} where from_run <= ${runId} and ${condition}
    union all select ${columns} from main.${name}_past
    where from_run <= ${runId} and likelihood(to_run > ${runId}, 0.0001) and ${condition}`;
}

/** Table name to the SELECT of its rows when a run had closed. */
function tablesAsOf(db: Connection, runId: number): Readonly<Record<string, string>> {
  const unlessCheckedSince = (column: string) => `iif(last_checked_run <= ${runId}, ${column}, null)`;
  const unlessLater = (column: string) => `iif(to_run <= ${runId}, ${column}, null)`;
  const unlessAfter = (column: string) => `iif(${column} <= ${runId}, ${column}, null)`;
  /** All columns of a table; `past` replaces some of them. */
  const columnsAt = (table: string, past: Readonly<Record<string, string>>) =>
    db
      .prepare<[string], string>("select name from pragma_table_info(?) order by cid")
      .pluck()
      .all(table)
      .concat(missingColumns(db, table))
      .map((column) => `${past[column] ?? column} as ${column}`)
      .join(", ");
  const resource = columnsAt("_resource", {
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
    retry_at: "null",
    absent_run: "null",
    absent_by: "null",
  });
  const revision = columnsAt("_revision", {
    to_run: unlessLater("to_run"),
    seen_run: unlessLater("seen_run"),
    seen_at: unlessLater("seen_at"),
  });
  // A row counts with its revision, which readers look up.
  const loaded = columnsAt("_loaded", {
    validator_run: unlessAfter("validator_run"),
    bytes_run: unlessAfter("bytes_run"),
  });
  return {
    _run: `select * from main._run where id <= ${runId}`,
    _resource: `select ${resource} from main._resource r where first_run <= ${runId}`,
    _revision: `select ${revision} from main._revision where from_run <= ${runId}`,
    ...(isMissing(db, "_loaded") ? {} : { _loaded: `select ${loaded} from main._loaded` }),
    _drift: `select * from main._drift where first_run <= ${runId}`,
    _search: `
      select id, resource_id, kind, text, from_run, null as to_run from main._search
      where from_run <= ${runId} and (to_run is null or to_run > ${runId})`,
    ...Object.fromEntries(versionedTables.map((table) => [table.name, rowsAt(table, runId)])),
  };
}
