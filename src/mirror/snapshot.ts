/**
 * The mirror as it was when a run had closed. In: a connection that only reads, and the run. Out: on that connection,
 * every table and view says under its own name what it said then, so that any SQL reads the past. It works by temporary
 * views, which SQLite finds before the file's own: of the tables as they were, and over these the file's own views.
 *
 * What is not remembered is not made up: `checked_at` is null where the resource was checked again since, and errors,
 * oddities and the order of pages (`_issue`, `_page`, `_pass`, `_meta`) are those of today.
 */
import type { Connection } from "./connection.ts";
import { MirrorError } from "./errors.ts";
import { isRebuildDue } from "./rebuild.ts";
import { columnsOf } from "./versioned-rows.ts";
import { versionedTables } from "./versioned-tables.ts";

/** By the name of a typed table, of which resources to show rows: a JSON array of ids. */
export type ShownIds = Readonly<Record<string, string>>;

/**
 * @param runId a run that has ended; 0 is before the first one, when nothing was known
 * @param shown all typed rows unless told
 * @throws MirrorError `older`
 */
export function showAsOf(db: Connection, runId: number, shown: ShownIds = {}): void {
  requireHistory(db);
  for (const [table, ids] of Object.entries(shown)) {
    db.exec(`create temp table _shown${table} (id integer primary key)`);
    db.prepare(`insert into temp._shown${table} select value from json_each(?)`).run(ids);
  }
  const views = db
    .prepare<[], string>("select sql from sqlite_schema where type = 'view' order by rowid")
    .pluck()
    .all();
  for (const [table, select] of Object.entries(tablesAsOf(BigInt(runId), shown)))
    db.exec(`create temp view ${table} as ${select}`);
  for (const sql of views) db.exec(sql.replace(/^create\s+view/i, "create temp view"));
}

/** @throws MirrorError `older` */
export function requireHistory(db: Connection): void {
  const isThere = db.prepare("select 1 from sqlite_schema where name = '_resource_past'").get() !== undefined;
  if (isThere && !isRebuildDue(db)) return;
  throw new MirrorError(
    "older",
    db.name,
    "The mirror is of an earlier version, which does not show the past",
    "`armoire mirror rebuild` brings it up to date, and so does the next sync.",
  );
}

function tablesAsOf(runId: bigint, shown: ShownIds): Readonly<Record<string, string>> {
  // The first state that ended after that run; where none did, the present one began before it ended.
  const former = (value: string) =>
    `(select ${value} from main._resource_past p where p.id = r.id and p.to_run > ${runId} order by p.to_run limit 1)`;
  return {
    _run: `select * from main._run where id <= ${runId}`,
    _resource: `
      select id, url, kind, owner_id, coalesce(${former("state")}, state) as state, etag,
        iif(abs(checked_run) <= ${runId}, checked_run, null) as checked_run,
        iif(abs(checked_run) <= ${runId}, checked_at, null) as checked_at,
        first_run, nullif(coalesce(${former("coalesce(gone_run, 0)")}, gone_run), 0) as gone_run, attempts,
        null as error, null as absent_run, null as absent_by
      from main._resource r where first_run <= ${runId}`,
    _revision: `
      select resource_id, seq, content_id, from_run, iif(to_run <= ${runId}, to_run, null) as to_run, status, fetched_at, base_url,
        iif(to_run <= ${runId}, seen_run, null) as seen_run, iif(to_run <= ${runId}, seen_at, null) as seen_at
      from main._revision where from_run <= ${runId}`,
    ...Object.fromEntries(
      versionedTables.map((table) => {
        const columns = [...columnsOf(table), "from_run"].join(", ");
        const isShown = Object.hasOwn(shown, table.name)
          ? ` and ${table.key} in (select id from temp._shown${table.name})`
          : "";
        return [
          table.name,
          `select ${columns} from main.${table.name} where from_run <= ${runId}${isShown}
           union all select ${columns} from main.${table.name}_past
           where from_run <= ${runId} and to_run > ${runId}${isShown}`,
        ];
      }),
    ),
  };
}
