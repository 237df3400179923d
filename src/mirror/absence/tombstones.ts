/**
 * When absent resources become tombstones: as a run closes, from the notes of this and earlier runs, unless too many
 * would go at once. A tombstone keeps its rows and revisions, and is requested again later. Call inside a
 * transaction.
 */
import { sql } from "kysely";
import type { ResourceState } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { idsIn, q } from "../queries/query-builder.ts";
import { type Absences, dueAgain, markLastSeenSql, readNotedAbsences, withoutNote } from "./absences.ts";
import { type AbsenceDecision, decideAbsences } from "./bulk-deletions.ts";
import { approveEmptiedLists, readEmptiedLists, selectUncheckedItems } from "./emptied-lists.ts";
import { preparePasses } from "./listing-pass.ts";

export interface ClosedAbsences extends Omit<AbsenceDecision, "goneIds"> {
  /** The number of new tombstones. */
  readonly gone: number;
}

/** @param approve also accepts bulk deletions, and the absence of all items of listings that became empty */
export function closeAbsences(
  db: Connection,
  absences: Absences,
  runId: number,
  approve: boolean,
): ClosedAbsences {
  if (approve) absences.noteUnlisted(selectUncheckedItems(db), runId);
  const { noted, live } = readNotedAbsences(db);
  const { goneIds, awaitingApproval, bulkDeletions } = approve
    ? { goneIds: noted.map(({ id }) => id), awaitingApproval: 0, bulkDeletions: [] }
    : decideAbsences(noted, live);
  endResources(db, goneIds, "gone", runId);
  const unreachableIds = findUnreachable(db);
  endResources(db, unreachableIds, "gone", runId);
  if (approve) approveEmptiedLists(db);
  const emptied = readEmptiedLists(db).map(({ url: _, ...list }) => ({ ...list, of: list.absent }));
  return {
    gone: goneIds.length + unreachableIds.length,
    awaitingApproval: awaitingApproval + emptied.reduce((sum, { absent }) => sum + absent, 0),
    bulkDeletions: [...bulkDeletions, ...emptied],
  };
}

/** Ends later pages that no listing contains any more, and validates the listings that they belonged to. */
export function supersedePages(db: Connection, absences: Absences, runId: number): void {
  const leftIds = endLeftPages(db, runId);
  if (leftIds.length > 0) preparePasses(db, absences).validateAtEnd(leftIds, runId);
}

/**
 * Ends later pages that no listing contains any more, so that they are no longer due. Raw: recursive.
 * @returns their ids
 */
export function endLeftPages(db: Connection, runId: number): number[] {
  const leftIds = db
    .prepare<[], number>(
      `with recursive reached (id) as (
         select id from _page where collection_id = id
         union select p.next_id from _page p join reached on reached.id = p.id where p.next_id is not null
       )
       select id from _resource
       where state <> 'superseded' and id in (select id from _page) and id not in (select id from reached)`,
    )
    .pluck()
    .all();
  endResources(db, leftIds, "superseded", runId);
  return leftIds;
}

/**
 * Makes tombstones due that held resources still link to: their absence may have been temporary, and an unchanged
 * listing does not report that they exist again.
 * @param checkedBefore ISO 8601; later checks are recent enough
 * @param now ISO 8601; checks later than that were made by a wrong clock
 */
export function recheckTombstones(db: Connection, checkedBefore: string, now: string): void {
  prepare(db, (p: { before: number; now: number }) =>
    q
      .updateTable("_resource")
      .set({ state: "due" })
      .where((eb) => eb.or([eb("checked_at", "<", p.before), eb("checked_at", ">", p.now)]))
      .where((eb) =>
        eb.or([
          eb.and([eb("state", "=", "gone"), eb.or([eb.exists(isListed()), eb("id", "in", linkedIds())])]),
          eb.and([eb("state", "=", "superseded"), eb("id", "in", nextPageIds())]),
        ]),
      ),
  ).run({ before: Date.parse(checkedBefore), now: Date.parse(now) });
}

const isListed = () =>
  q
    .selectFrom("_member as m")
    .innerJoin("_resource as p", "p.id", "m.page_id")
    .select(sql<1>`1`.as("found"))
    .where("p.state", "=", "held")
    .where("p.absent_by", "is", null)
    .where("m.item_id", "=", sql.ref<number>("_resource.id"));

const linkedIds = () =>
  q
    .selectFrom("_link as l")
    .innerJoin("_resource as s", "s.id", "l.from_id")
    .select("l.to_id")
    .where("s.state", "=", "held")
    .where("s.absent_by", "is", null);

const nextPageIds = () =>
  q
    .selectFrom("_page as p")
    .innerJoin("_resource as r", "r.id", "p.id")
    .select("p.next_id")
    .where("r.state", "=", "held");

function endResources(
  db: Connection,
  endedIds: readonly number[],
  state: "gone" | "superseded",
  run: number,
): void {
  if (endedIds.length === 0) return;
  const ids = JSON.stringify(endedIds);
  db.prepare<{ ids: string }>(markLastSeenSql("select value from json_each(:ids)")).run({ ids });
  prepare(db, (p: { ids: string; state: ResourceState; run: number }) =>
    q
      .updateTable("_resource")
      .set((eb) => ({
        ...withoutNote,
        state: p.state,
        etag: null,
        gone_run: eb.fn.coalesce("gone_run", sql<number>`${p.run}`),
        error: null,
      }))
      .where("id", "in", idsIn(p.ids)),
  ).run({ ids, state, run });
  prepare(db, (p: { ids: string; run: number }) =>
    q
      .updateTable("_revision")
      .set({ to_run: p.run })
      .where("to_run", "is", null)
      .where("resource_id", "in", idsIn(p.ids)),
  ).run({ ids, run });
  prepare(db, (p: { ids: string }) => q.deleteFrom("_pass").where("collection_id", "in", idsIn(p.ids))).run({
    ids,
  });
}

// Raw, since both statements share a recursive table. `cross join` and `+` keep SQLite from reading all absent resources
// for each one, and all lists of a kind.

const selectBelow = `
  select r.id from _resource o join _resource r on r.owner_id = o.id where o.state = 'gone' and r.absent_by = 'parent'
  union select r.id from below cross join _resource r on r.owner_id = below.id where +r.absent_by = 'parent'`;

/** Their kind has a listing that was not read since, or is not consistent: it may contain them. */
const selectDoubtful = `
  select r.id from below join _resource r on r.id = below.id join _resource o on o.id = r.owner_id
  where exists (select 1 from _page p where p.id = o.id) and (
    exists (select 1 from _resource l where l.kind = o.kind and l.state in ('due', 'failed') and l.absent_by is null)
    or exists (select 1 from _resource l
      where l.kind = o.kind and l.state = 'held' and l.checked_run < r.absent_run and l.absent_by is null)
    or o.kind in (select l.kind from _pass s cross join _resource l on l.id = s.collection_id where l.absent_by is null))`;

const selectLinked = `
  select l.to_id from _link l join _resource s on s.id = l.from_id and s.state = 'held' and s.absent_by is not 'parent'
  where l.to_id in (select id from below)
  union select m.item_id from below join _member m on m.item_id = below.id
  join _resource s on s.id = m.page_id and s.state = 'held' and s.absent_by is not 'parent'
  union select p.next_id from _page p join _resource s on s.id = p.id and s.state = 'held' and s.absent_by is not 'parent'
  where p.next_id in (select id from below)`;

/**
 * Resources below tombstones that nothing links to any more. Those that something still links to become due: a
 * request shows whether they exist.
 */
function findUnreachable(db: Connection): number[] {
  const isAny = prepareColumn(db, () =>
    q.selectFrom("_resource").select(sql<1>`1`.as("found")).where("absent_by", "=", "parent").limit(1),
  );
  if (isAny.get() === undefined) return [];
  const linkedIds = db
    .prepare<[], number>(`with recursive below (id) as (${selectBelow}) ${selectLinked}`)
    .pluck()
    .all();
  prepare(db, (p: { ids: string }) =>
    q
      .updateTable("_resource")
      .set({ ...dueAgain, ...withoutNote })
      .where("id", "in", idsIn(p.ids)),
  ).run({ ids: JSON.stringify(linkedIds) });
  // Resources below one that may exist may exist too.
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
