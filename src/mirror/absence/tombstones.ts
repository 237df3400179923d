/**
 * Tombstones: made when a run closes, from what was noted as absent by then, also by runs that died; asked about again
 * later. A tombstone keeps its rows and its revisions. Called inside a transaction.
 */
import type { Connection } from "../file/connection.ts";
import { type Absences, markDueSql, markLastSeenSql, readNotedAbsences } from "./absences.ts";
import { type AbsenceDecision, decideAbsences } from "./bulk-deletions.ts";

/**
 * Makes what was not there due again where something held still leads to it: a listing that does not change says no
 * second time that a thing is there, and its absence may have been a passing one.
 * @param checkedBefore ISO 8601; only what was not asked for since
 * @param now ISO 8601; what was asked for later than that was asked for by a clock that was wrong
 */
export function recheckTombstones(db: Connection, checkedBefore: string, now: string): void {
  db.prepare(
    `update _resource set state = 'due' where (checked_at < ? or checked_at > ?) and (state = 'gone' and (
       exists (select 1 from _member m join _resource p on p.id = m.page_id and p.state = 'held' and p.absent_by is null
         where m.item_id = _resource.id)
       or id in (select l.to_id from _link l join _resource s on s.id = l.from_id and s.state = 'held' and s.absent_by is null)
     ) or state = 'superseded' and id in (
       select p.next_id from _page p join _resource r on r.id = p.id and r.state = 'held'))`,
  ).run(Date.parse(checkedBefore), Date.parse(now));
}

export interface ClosedAbsences extends Omit<AbsenceDecision, "goneIds"> {
  /** How many became tombstones. */
  readonly gone: number;
}

/** @param approve makes tombstones of masses too, and of what a list had that has nothing any more */
export function closeAbsences(
  db: Connection,
  absences: Absences,
  runId: number,
  approve: boolean,
): ClosedAbsences {
  if (approve) absences.noteUnlisted(selectEmptied(db), runId);
  const { noted, live } = readNotedAbsences(db);
  const { goneIds, waiting, masses } = approve
    ? { goneIds: noted.map(({ id }) => id), waiting: 0, masses: [] }
    : decideAbsences(noted, live);
  bury(db, goneIds, runId);
  const unreachable = findUnreachable(db);
  bury(db, unreachable, runId);
  return { gone: goneIds.length + unreachable.length, waiting, masses };
}

function bury(db: Connection, ids: readonly number[], runId: number): void {
  if (ids.length === 0) return;
  const buried = JSON.stringify(ids);
  db.prepare(markLastSeenSql("select value from json_each(?)")).run(buried);
  db.prepare(
    `update _resource set state = 'gone', etag = null, gone_run = coalesce(gone_run, ?), error = null,
       absent_run = null, absent_by = null where id in (select value from json_each(?))`,
  ).run(runId, buried);
  db.prepare(
    "update _revision set to_run = ? where to_run is null and resource_id in (select value from json_each(?))",
  ).run(runId, buried);
  db.prepare("delete from _pass where collection_id in (select value from json_each(?))").run(buried);
}

/** What belongs to a list without items, did not answer since the list became empty, and stands on no other list. */
function selectEmptied(db: Connection): number[] {
  return db
    .prepare<[], number>(
      `select r.id from _page p join _resource l on l.id = p.id join _resource r on r.owner_id = l.id
       where p.id = p.collection_id and p.next_id is null and l.state = 'held' and l.absent_by is null
         and not exists (select 1 from _member where page_id = p.id)
         and not exists (select 1 from _pass where collection_id = p.id)
         and r.state in ('held', 'due', 'failed') and r.absent_by is null
         and r.checked_run < (select from_run from _revision where resource_id = l.id and to_run is null)
         and not exists (select 1 from _member where item_id = r.id)`,
    )
    .pluck()
    .all();
}

/**
 * What is left below tombstones. In: the mirror at the end of a run. Out: what nothing leads to any more; what something
 * still leads to is due, to say for itself whether it is there. Called inside a transaction.
 */

const selectBelow = `
  select r.id from _resource o join _resource r on r.owner_id = o.id where o.state = 'gone' and r.absent_by = 'parent'
  union select r.id from below join _resource r on r.owner_id = below.id where r.absent_by = 'parent'`;

/** Where a list of the same kind was not read since, or is not whole, it may name an item that none is known to name. */
const selectDoubtful = `
  select r.id from below join _resource r on r.id = below.id join _resource o on o.id = r.owner_id
  where exists (select 1 from _page p where p.id = o.id) and (
    exists (select 1 from _resource l where l.kind = o.kind and l.state in ('due', 'failed') and l.absent_by is null)
    or exists (select 1 from _resource l
      where l.kind = o.kind and l.state = 'held' and l.checked_run < r.absent_run and l.absent_by is null)
    or exists (select 1 from _pass s join _resource l on l.id = s.collection_id where l.kind = o.kind and l.absent_by is null))`;

const selectReached = `
  select l.to_id from _link l join _resource s on s.id = l.from_id and s.state = 'held' and s.absent_by is not 'parent'
  where l.to_id in (select id from below)
  union select m.item_id from below join _member m on m.item_id = below.id
  join _resource s on s.id = m.page_id and s.state = 'held' and s.absent_by is not 'parent'
  union select p.next_id from _page p join _resource s on s.id = p.id and s.state = 'held' and s.absent_by is not 'parent'
  where p.next_id in (select id from below)`;

/** @returns the ids of what is to become a tombstone */
export function findUnreachable(db: Connection): number[] {
  if (db.prepare("select 1 from _resource where absent_by = 'parent' limit 1").get() === undefined) return [];
  const reached = db
    .prepare<[], number>(`with recursive below (id) as (${selectBelow}) ${selectReached}`)
    .pluck()
    .all();
  db.prepare(
    `update _resource set ${markDueSql}, absent_run = null, absent_by = null where id in (select value from json_each(?))`,
  ).run(JSON.stringify(reached));
  // What belongs to what may be there may be there too.
  return db
    .prepare<[], number>(
      `with recursive below (id) as (${selectBelow}), spared (id) as (
         select id from (${selectDoubtful})
         union select r.id from spared join _resource r on r.owner_id = spared.id
       ) select id from below where id not in (select id from spared)`,
    )
    .pluck()
    .all();
}
