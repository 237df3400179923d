/**
 * Forgetting runs: what only they have seen goes, and whatever any other run shows stays as it shows it. What changed in a
 * forgotten run counts from the next one that is kept, and rows that would be of no run are removed.
 */
import { lookAtAllAgain } from "../bodies/background-compression.ts";
import { replaceDictionaries } from "../bodies/dictionaries.ts";
import type { Connection } from "../file/connection.ts";
import { isKept } from "../points/resolve-point.ts";
import { versionedTables } from "../rows/versioned-rows.ts";
import { rebuildSearchIndex } from "../search/search-index.ts";

/** What goes when runs are forgotten. */
export interface PrunableData {
  readonly revisions: number;
  /** Those of the revisions that no other one has as well. */
  readonly bodies: number;
  /** That these bodies take in the file. */
  readonly bytes: number;
}

/** Reads what would go; writes only what is temporary. */
export function measurePrunable(db: Connection, runIds: readonly number[]): PrunableData {
  return db.transaction(() => {
    noteRemaining(db, runIds);
    const measured = readForgettable(db);
    dropNotes(db);
    return measured;
  })();
}

/**
 * In one transaction.
 * @param runIds runs that have ended, without the latest
 * @param at ISO 8601
 */
export function pruneRuns(db: Connection, runIds: readonly number[], at: string): PrunableData {
  return db.transaction(() => {
    noteRemaining(db, runIds);
    const measured = readForgettable(db);
    db.prepare("update _run set forgotten_at = ? where id in (select value from json_each(?))").run(
      at,
      JSON.stringify(runIds),
    );
    removeRevisions(db);
    for (const { name } of versionedTables) settleRows(db, name);
    removeStates(db);
    rebuildSearchIndex(db);
    // What was looked at is known by ids, which new bodies may have again; and some of what goes may be in dictionaries.
    lookAtAllAgain(db);
    if (measured.bodies > 0) replaceDictionaries(db);
    dropNotes(db);
    return measured;
  })();
}

/** Whether a run that remains has seen what was so from one run up to, but not including, another. */
const isSeen = (from: string, to: string) =>
  `exists (select 1 from temp.remaining_run n where n.id >= ${from} and n.id < ${to})`;

/**
 * Notes the runs that remain, an open one included, and the revisions that none of them needs. A revision gives the rows
 * until the next one comes, also while the resource is gone; the newest one does so for good. What came in a run that
 * remains stays even if something else came in the same run.
 */
function noteRemaining(db: Connection, runIds: readonly number[]): void {
  db.exec(
    `create temp table remaining_run (id integer primary key);
     create temp table unneeded (
       resource_id integer, seq integer, content_id integer, from_run integer, next_run integer,
       primary key (resource_id, seq)
     ) without rowid`,
  );
  db.prepare(
    `insert into temp.remaining_run
     select id from _run where ${isKept(db)} and id not in (select value from json_each(?))`,
  ).run(JSON.stringify(runIds));
  db.exec(
    `insert into temp.unneeded
     with life as (
       select *, lead(from_run) over (partition by resource_id order by seq) as until_run from _revision
     ), judged as (
       select *, until_run is not null and not ${isSeen("from_run", "max(until_run, from_run + 1)")} as is_unneeded from life
     )
     select resource_id, seq, content_id, from_run, next_run from (
       select *, min(iif(is_unneeded, null, from_run)) over (
         partition by resource_id order by seq rows between 1 following and unbounded following) as next_run
       from judged
     ) where is_unneeded`,
  );
}

function dropNotes(db: Connection): void {
  db.exec("drop table temp.unneeded; drop table temp.remaining_run");
}

const unneededContents = `
  select content_id from temp.unneeded
  except select content_id from _revision v where not exists (
    select 1 from temp.unneeded u where u.resource_id = v.resource_id and u.seq = v.seq)`;

function readForgettable(db: Connection): PrunableData {
  const measured = db
    .prepare<[], PrunableData>(
      `select (select count(*) from temp.unneeded) as revisions, count(*) as bodies,
         coalesce(sum(length(body)), 0) as bytes
       from _content where id in (${unneededContents})`,
    )
    .get();
  return measured ?? { revisions: 0, bodies: 0, bytes: 0 };
}

function removeRevisions(db: Connection): void {
  db.exec("create temp table unneeded_content (id integer primary key)");
  db.exec(`insert into temp.unneeded_content ${unneededContents}`);
  // What ended when an unneeded one began goes on to the one after that: else it would seem to have been gone between.
  db.exec(
    `update _revision set to_run = u.next_run from temp.unneeded u
     where u.resource_id = _revision.resource_id and u.seq > _revision.seq and u.from_run = _revision.to_run`,
  );
  db.exec("delete from _revision where (resource_id, seq) in (select resource_id, seq from temp.unneeded)");
  // SQLite refuses to remove a body that a revision still has; without an index it would read all of them to see that.
  db.exec("create index _revision_content on _revision (content_id)");
  db.exec("delete from _content where id in (select id from temp.unneeded_content)");
  db.exec("drop index _revision_content; drop table temp.unneeded_content");
}

function settleRows(db: Connection, table: string): void {
  const isForgotten = (column: string) => `${column} not in (select id from temp.remaining_run)`;
  const settled = (column: string) =>
    `${column} = (select min(n.id) from temp.remaining_run n where n.id >= ${column})`;
  db.exec(
    `delete from ${table}_past where not ${isSeen("from_run", "to_run")};
     update ${table}_past set ${settled("from_run")}, ${settled("to_run")}
       where ${isForgotten("from_run")} or ${isForgotten("to_run")};
     update ${table} set ${settled("from_run")} where ${isForgotten("from_run")}`,
  );
}

/** Of states only the end is remembered, so that the next one goes back to where a removed one began. */
function removeStates(db: Connection): void {
  db.exec(
    `delete from _resource_past where (id, to_run) in (
       select id, to_run from (
         select p.id, p.to_run, lag(p.to_run, 1, r.first_run) over (partition by p.id order by p.to_run) as since
         from _resource_past p join _resource r on r.id = p.id
       ) where not ${isSeen("since", "to_run")})`,
  );
}
