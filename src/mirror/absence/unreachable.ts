/**
 * What is left below tombstones. In: the mirror at the end of a run. Out: what nothing leads to any more; what something
 * still leads to is due, to say for itself whether it is there. Called inside a transaction.
 */
import type { Connection } from "../file/connection.ts";
import { dueAgain } from "./absences.ts";

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
export function takeUnreachable(db: Connection): number[] {
  if (db.prepare("select 1 from _resource where absent_by = 'parent' limit 1").get() === undefined) return [];
  const reached = db
    .prepare<[], number>(`with recursive below (id) as (${selectBelow}) ${selectReached}`)
    .pluck()
    .all();
  db.prepare(
    `update _resource set ${dueAgain}, absent_run = null, absent_by = null where id in (select value from json_each(?))`,
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
