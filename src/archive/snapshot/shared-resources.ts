/**
 * Chooses the resources of a snapshot: those that follow from the service's own listings. Out: a temporary table of them, in
 * the order of the snapshot. Resources in no list, and those that only an account's links led to, would show
 * what a user looked at or owns.
 */

import type { Cell } from "../../../schema/fields.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { type PublicTable, tablesAbout } from "../../mirror/public-tables.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import type { SeenBy } from "../../mirror/snapshots/snapshot-resource.ts";
import type { Block } from "../container/collect-blocks.ts";
import { BackupError } from "../errors.ts";
import type { SnapshotCoverage } from "./manifest.ts";
import { startOfDay } from "./resource-lines.ts";
import { findChanged, readSharedBlocks } from "./shared-bodies.ts";

export interface SharedResources {
  readonly takenOn: string;
  readonly seenBy: SeenBy;
  readonly coverage: SnapshotCoverage;
  /** Owners before what they own, then by kind and URL. @throws DamagedBodyError */
  blocks(): AsyncGenerator<Block>;
  /** Resources of which something else is known than was. @returns their numbers */
  findChanged(known: ReadonlyMap<string, string>): readonly number[];
  /** The public tables with the rows of these resources. @throws BackupError `not-shareable` */
  tables(): readonly PublicTable[];
  /** Leaves out all others. @returns their coverage */
  keepOnly(numbers: readonly number[]): SnapshotCoverage;
}

/** Runs for the links of an account fetch only those. */
const accountRuns = `select id from _run where json_extract(scope_json, '$.only') is not null`;

/** Raw: recursive queries over temporary tables. */
const lastSeq = `(select max(seq) from _revision where resource_id = r.id)`;

/** What such a run has requested since is shown as the runs before it knew it. */
const isShared = `iif(exists (select 1 from _linked_check k where k.resource_id = r.id),
  exists (select 1 from _linked_check k where k.resource_id = r.id and k.seq is not null),
  r.state in ('held', 'gone') and r.last_checked_run not in (${accountRuns})
    and exists (select 1 from _revision v where v.resource_id = r.id)
    and (not exists (select 1 from _loaded) or not exists (
      select 1 from _loaded l where l.resource_id = r.id and l.seq = ${lastSeq}
        and l.validator_run is null and l.bytes_run is null)))`;

/** Times within a day would show when the mirror was synced. */
const dayOf = (millis: string) => `date(${millis} / 1000, 'unixepoch')`;

/** What such a run found gone, and all below it, is still there for the runs before it. */
const isGone = `case
    when f.is_gone and (k.seq is not null or r.state = 'gone') then 1
    else r.state = 'gone' and k.seq is null
      and (r.gone_run not in (${accountRuns}) or r.last_checked_run > r.gone_run) end`;

const choose = `
  create temp table _followed (id integer primary key, depth integer not null, is_gone integer not null, gone_on text);
  insert into temp._followed with recursive followed (id, depth, is_gone, gone_on) as (
      select r.id, 0, 0, null from main._resource r where r.kind = 'root' and r.owner_id is null and ${isShared}
      union all
      select r.id, f.depth + 1, ${isGone},
        case when r.state <> 'gone' and not f.is_gone then null
          when r.gone_run not in (${accountRuns}) then (select date(started_at) from main._run where id = r.gone_run)
          when f.is_gone then f.gone_on else ${dayOf("r.checked_at")} end
      from followed f join main._resource r on r.owner_id = f.id left join _linked_check k on k.resource_id = r.id
      where ${isShared}
    ) select * from followed;
  create temp table _shared (
    n integer primary key, id integer not null, seq integer not null, kind text not null, fetched_on text not null, gone_on text,
    checked_run integer not null
  );
  insert into temp._shared (id, seq, kind, fetched_on, gone_on, checked_run)
    select id, seq, kind, fetched_on, iif(is_gone, max(gone_on, fetched_on), null), checked_run from (
      select r.id, v.seq, r.kind, r.url, f.depth, f.is_gone, f.gone_on,
        coalesce(k.checked_run, r.last_checked_run) as checked_run,
        case when k.seq is not null then ${dayOf("coalesce(k.checked_at, v.fetched_at)")}
          when f.is_gone or r.absent_by is 'response' then ${dayOf("coalesce(v.seen_at, v.fetched_at)")}
          else ${dayOf("coalesce(r.checked_at, v.fetched_at)")} end as fetched_on
      from temp._followed f join main._resource r on r.id = f.id
        left join _linked_check k on k.resource_id = r.id
        join main._revision v on v.resource_id = r.id and v.seq = coalesce(k.seq, ${lastSeq}))
    order by depth, kind, url;`;

/**
 * @param mirror of a catalogue, in a transaction; call once a connection
 * @throws BackupError `nothing-held`, `not-shareable`
 */
export function chooseShared(mirror: MirrorReader): SharedResources {
  const { db, file, identity } = mirror;
  if (identity.area !== "catalogue")
    throw new BackupError(
      "not-shareable",
      `This is the mirror of an account, which is private: ${file}`,
      "A snapshot is of a catalogue. To keep an account's data, use `armoire backup create`.",
    );
  db.exec(choose);
  requireContent(mirror);
  const seenBy = readSeenBy(db);
  const coverage = readCoverage(db, dueRows);
  const takenOn = db
    .prepare<[], string>(
      `select max(day) from (
         select max(fetched_on) as day from temp._shared union all select max(gone_on) from temp._shared
         union all select date(started_at) from main._run where id not in (${accountRuns}))`,
    )
    .pluck()
    .get();
  return {
    ...{ takenOn: takenOn ?? "", seenBy, coverage },
    blocks: () => readSharedBlocks(db, seenBy),
    tables: () => readSharedTables(mirror),
    findChanged: (known) => findChanged(db, seenBy, known),
    keepOnly(numbers) {
      db.prepare("delete from temp._shared where n not in (select value from json_each(?))").run(
        JSON.stringify(numbers),
      );
      return readCoverage(db, "");
    },
  };
}

/** A time is the beginning of its day, as in the index. */
function readSharedTables(mirror: MirrorReader): PublicTable[] {
  const { db, file } = mirror;
  if (db.prepare(`${accountRuns} limit 1`).get() !== undefined)
    throw new BackupError(
      "not-shareable",
      `The tables would show what runs for an account have fetched: ${file}`,
      "Leave --tables out: without them, a snapshot is as if those runs had never been.",
    );
  const urls = "select url from main._resource where id in (select id from temp._shared)";
  return tablesAbout(mirror, urls).flatMap((table) => {
    const kept = [...table.columns.keys()].filter((n) => table.columns[n] !== "confirmed");
    const columns = kept.map((n) => table.columns[n] ?? "");
    const times = ["first_seen_at", "gone_at"].map((name) => columns.indexOf(name)).filter((n) => n >= 0);
    function* rows(): Generator<Cell[]> {
      for (const row of table.rows()) {
        const cells = kept.map((n) => row[n] ?? null);
        for (const n of times) if (cells[n] !== null) cells[n] = startOfDay(String(cells[n]).slice(0, 10));
        yield cells;
      }
    }
    return table.isEmpty() ? [] : [{ ...table, columns, rows }];
  });
}

/** What is known and not in it. */
const dueRows = `union all
  select r.kind, 0, 0, 1, null from main._resource r
  where r.owner_id in (select id from temp._followed) and r.id not in (select id from temp._followed)
    and r.state in ('due', 'failed', 'held')`;

function readCoverage(db: Connection, more: string): SnapshotCoverage {
  return db
    .prepare<[], SnapshotCoverage[number]>(
      `select kind, coalesce(sum(held), 0) as held, coalesce(sum(gone), 0) as gone, coalesce(sum(due), 0) as due,
         min(fetched_on) as oldest, max(fetched_on) as newest
       from (
         select kind, gone_on is null as held, gone_on is not null as gone, 0 as due, fetched_on from temp._shared
         ${more}
       ) group by kind order by kind`,
    )
    .all();
}

/**
 * The kind of credential of the newest run that recorded it. A validator belongs to one kind: those that runs with another
 * kind have seen are left out.
 */
function readSeenBy(db: Connection): SeenBy {
  const found = db
    .prepare<[], string | null>(
      `select json_extract(scope_json, '$.credential') from _run
       where id not in (${accountRuns}) and json_extract(scope_json, '$.credential') is not null order by id desc limit 1`,
    )
    .pluck()
    .get();
  return found === "app" || found === "token" ? found : "none";
}

/** @throws BackupError */
function requireContent({ db, file }: MirrorReader): void {
  const isFound = (select: string) => db.prepare(`${select} limit 1`).get() !== undefined;
  if (isFound("select 1 from temp._shared where kind <> 'root'")) return;
  if (!isFound("select 1 from _revision"))
    throw new BackupError("nothing-held", `The mirror is empty: ${file}`, "Run `armoire sync` first.");
  throw new BackupError(
    "not-shareable",
    `The mirror holds nothing that a run over the service's lists has fetched or confirmed: ${file}`,
    "What only an account's bras led to, and unconfirmed resources, are not shared. Run `armoire sync` first.",
  );
}
