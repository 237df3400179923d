/**
 * Prunes runs: deletes the data that only the pruned runs show. The state after every remaining run stays the same. A change
 * of a pruned run is dated to the next remaining run, and rows that no remaining run shows are deleted.
 */
import { type SqlBool, sql } from "kysely";
import type { MirrorTables } from "../../../schema/tables.ts";
import { restartCompression } from "../bodies/background-compression.ts";
import { markDictionariesStale } from "../bodies/dictionaries.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { idsIn, q, queryBuilder } from "../queries/query-builder.ts";
import { versionedTables } from "../rows/versioned-rows.ts";
import { rebuildSearchIndex } from "../search/search-index.ts";

/** The data that is deleted when runs are pruned. */
export interface PrunableData {
  /** The number of revisions. */
  readonly revisions: number;
  /** Bodies that no other revision has. */
  readonly bodies: number;
  /** The space of these bodies in the file. */
  readonly bytes: number;
}

/** Measures what pruning these runs would delete; writes only temporary tables. */
export function measurePrunable(db: Connection, runIds: readonly number[]): PrunableData {
  return db.transaction(() => {
    createTempTables(db, runIds);
    const measured = measureUnneeded(db);
    dropTempTables(db);
    return measured;
  })();
}

/**
 * Prunes runs, in one transaction.
 * @param runIds ended runs, without the latest
 * @param at ISO 8601
 */
export function pruneRuns(db: Connection, runIds: readonly number[], at: string): PrunableData {
  return db.transaction(() => {
    createTempTables(db, runIds);
    const measured = measureUnneeded(db);
    prepare(db, (p: { ids: string; at: string }) =>
      q.updateTable("_run").set({ pruned_at: p.at }).where("id", "in", idsIn(p.ids)),
    ).run({ ids: JSON.stringify(runIds), at });
    deleteRevisions(db);
    for (const { name } of versionedTables) pruneRows(db, name);
    deleteStates(db);
    rebuildSearchIndex(db);
    // Progress is a content id, and deleted ids may be used again. Dictionaries may contain deleted bodies.
    restartCompression(db);
    if (measured.bodies > 0) markDictionariesStale(db);
    dropTempTables(db);
    return measured;
  })();
}

interface PruningTables extends MirrorTables {
  /** The runs that remain, an open one included. */
  "temp.remaining_run": { id: number };
  /** The revisions that no remaining run needs. */
  "temp.unneeded": {
    resource_id: number;
    seq: number;
    content_id: number;
    from_run: number;
    /** The run that stored the next needed revision. */
    next_run: number;
  };
}

const pruning = () => queryBuilder<PruningTables>();

/** SQL condition: a remaining run shows a state that held from one run up to, but not including, another. */
const isShown = (from: string, to: string) =>
  `exists (select 1 from temp.remaining_run n where n.id >= ${from} and n.id < ${to})`;

/**
 * A revision determines the rows until the next revision, also while the resource is gone; the newest one determines them
 * for good. A revision of a remaining run is needed even if the same run stored another one.
 */
function createTempTables(db: Connection, runIds: readonly number[]): void {
  db.exec(
    `create temp table remaining_run (id integer primary key);
     create temp table unneeded (
       resource_id integer, seq integer, content_id integer, from_run integer, next_run integer,
       primary key (resource_id, seq)
     ) without rowid`,
  );
  prepare(db, (p: { pruned: string }) =>
    pruning()
      .insertInto("temp.remaining_run")
      .columns(["id"])
      .expression(
        q
          .selectFrom("_run")
          .select("id")
          .where("pruned_at", "is", null)
          .where("id", "not in", idsIn(p.pruned)),
      ),
  ).run({ pruned: JSON.stringify(runIds) });
  db.exec(
    `insert into temp.unneeded
     with life as (
       select *, lead(from_run) over (partition by resource_id order by seq) as until_run from _revision
     ), examined as (
       select *, until_run is not null and not ${isShown("from_run", "max(until_run, from_run + 1)")} as is_unneeded from life
     )
     select resource_id, seq, content_id, from_run, next_run from (
       select *, min(iif(is_unneeded, null, from_run)) over (
         partition by resource_id order by seq rows between 1 following and unbounded following) as next_run
       from examined
     ) where is_unneeded`,
  );
}

function dropTempTables(db: Connection): void {
  db.exec("drop table temp.unneeded; drop table temp.remaining_run");
}

const unneededContents = `
  select content_id from temp.unneeded
  except select content_id from _revision v where not exists (
    select 1 from temp.unneeded u where u.resource_id = v.resource_id and u.seq = v.seq)`;

function measureUnneeded(db: Connection): PrunableData {
  const count = prepare(db, () =>
    pruning()
      .selectFrom("temp.unneeded")
      .select(({ fn }) => fn.countAll<number>().as("revisions")),
  ).get();
  const measured = prepare(db, () =>
    q
      .selectFrom("_content")
      .select(({ fn }) => [
        fn.countAll<number>().as("bodies"),
        sql<number>`coalesce(sum(length(body)), 0)`.as("bytes"),
      ])
      .where(sql<SqlBool>`id in (${sql.raw(unneededContents)})`),
  ).get();
  return { revisions: 0, bodies: 0, bytes: 0, ...count, ...measured };
}

function deleteRevisions(db: Connection): void {
  db.exec("create temp table unneeded_content (id integer primary key)");
  db.exec(`insert into temp.unneeded_content ${unneededContents}`);
  // A revision that ended when an unneeded one began now ends with the next needed one: otherwise there would be a gap.
  db.exec(
    `update _revision set to_run = u.next_run from temp.unneeded u
     where u.resource_id = _revision.resource_id and u.seq > _revision.seq and u.from_run = _revision.to_run`,
  );
  db.exec("delete from _revision where (resource_id, seq) in (select resource_id, seq from temp.unneeded)");
  // For each deleted body, SQLite checks that no revision refers to it; without an index it would read all revisions.
  db.exec("create index _revision_content on _revision (content_id)");
  db.exec("delete from _content where id in (select id from temp.unneeded_content)");
  db.exec("drop index _revision_content; drop table temp.unneeded_content");
  db.exec(
    "delete from _headers where id not in (select headers_id from _revision where headers_id is not null)",
  );
}

/** Deletes the rows that no remaining run shows, and dates the others to remaining runs. */
function pruneRows(db: Connection, table: string): void {
  const isPruned = (column: string) => `${column} not in (select id from temp.remaining_run)`;
  const moved = (column: string) =>
    `${column} = (select min(n.id) from temp.remaining_run n where n.id >= ${column})`;
  db.exec(
    `delete from ${table}_past where not ${isShown("from_run", "to_run")};
     update ${table}_past set ${moved("from_run")}, ${moved("to_run")}
       where ${isPruned("from_run")} or ${isPruned("to_run")};
     update ${table} set ${moved("from_run")} where ${isPruned("from_run")}`,
  );
}

/** Only the end of a state is stored, so the next state begins where a deleted one began. */
function deleteStates(db: Connection): void {
  db.exec(
    `delete from _resource_past where (id, to_run) in (
       select id, to_run from (
         select p.id, p.to_run, lag(p.to_run, 1, r.first_run) over (partition by p.id order by p.to_run) as since
         from _resource_past p join _resource r on r.id = p.id
       ) where not ${isShown("since", "to_run")})`,
  );
}
