/**
 * Notes of absence. A resource whose absence something says is noted with what says it, and stays what it was until a run
 * closes: what is seen again before that loses its note. What belongs to an absent resource is noted too, as not worth
 * asking for. Called inside a transaction.
 */

import type { AbsenceProof } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";
import type { LiveCounts, NotedAbsence } from "./bulk-deletions.ts";

export interface Absences {
  /** Notes what a list names no more. */
  noteUnlisted(ids: readonly number[], runId: number): void;
  /** Notes what belongs to these, unless a list of somebody else's names it. */
  noteBelow(ids: readonly number[], runId: number): void;
  /** Takes back the notes of what answered, of what belongs to it, and of what it lists where only a list had noted that. */
  noteSeen(ids: readonly number[]): void;
  /** Makes what is held due again, though it was asked for in this run. */
  askAgain(ids: readonly number[]): void;
}

/**
 * An SQL condition on the resource called `alias`: a list tells by itself when it names an item again, and what belongs to
 * something absent waits for that. What did not answer itself is asked again with everything else.
 */
export const isFetchable = (alias: string): string =>
  `(${alias}.absent_by is null or ${alias}.absent_by = 'answer')`;

const noNote = "absent_run = null, absent_by = null";
/** Has resources requested again, as if they had never been checked. */
export const markDueSql = "state = 'due', checked_run = 0";

export function prepareAbsences(db: Connection): Absences {
  const note = db.prepare(
    `update _resource set absent_run = ?, absent_by = 'listing' where absent_by is not 'answer' and id in (select value from json_each(?))`,
  );
  const noteBelow = db.prepare<{ ids: string; runId: number }>(
    `with recursive below (id) as (
       select value from json_each(:ids) where value not in (select id from _page)
       union select r.id from below join _resource r on r.owner_id = below.id
       where r.state in ('held', 'due', 'failed') and not exists (
         select 1 from _member m join _page p on p.id = m.page_id join _resource l on l.id = p.collection_id
         where m.item_id = r.id and l.id <> r.owner_id and l.state = 'held' and l.absent_by is null)
     )
     update _resource set absent_run = :runId, absent_by = 'parent'
     where absent_by is null and id in (select id from below) and id not in (select value from json_each(:ids))`,
  );
  const isAnyNoted = db.prepare("select 1 from _resource where absent_by is not null limit 1");
  // The signs keep SQLite from going through all notes, of which there may be more than the mirror has of anything else.
  const forget = db.prepare(
    `update _resource set ${noNote} where +absent_by is not null and id in (select value from json_each(?))`,
  );
  const forgetListed = db.prepare(
    `update _resource set ${noNote} where +absent_by = 'listing' and id in (
       select m.item_id from json_each(?) j join _member m on m.page_id = j.value)`,
  );
  const forgetBelow = db.prepare(
    `with recursive below (id) as (
       select r.id from json_each(?) j cross join _resource r on r.owner_id = j.value where +r.absent_by = 'parent'
       union select r.id from below cross join _resource r on r.owner_id = below.id where +r.absent_by = 'parent'
     ) update _resource set ${noNote} where +absent_by = 'parent' and id in (select id from below)`,
  );
  const askAgain = db.prepare(
    `update _resource set ${markDueSql} where state = 'held' and id in (select value from json_each(?))`,
  );

  const noteBelowOf = (ids: readonly number[], runId: number): void => {
    if (ids.length > 0) noteBelow.run({ ids: JSON.stringify(ids), runId });
  };
  return {
    noteUnlisted(ids, runId) {
      note.run(runId, JSON.stringify(ids));
      noteBelowOf(ids, runId);
    },
    noteBelow: noteBelowOf,
    noteSeen(ids) {
      if (ids.length === 0 || isAnyNoted.get() === undefined) return;
      const seen = JSON.stringify(ids);
      forget.run(seen);
      forgetListed.run(seen);
      forgetBelow.run(seen);
    },
    askAgain: (ids) => void askAgain.run(JSON.stringify(ids)),
  };
}

/**
 * Notes in the current revisions when they were seen last, before something else is noted as the last answer: a later
 * body, or that it is gone. What answered that it is gone was noted then, and is not seen again before it is held.
 * @param ids SQL that gives the resources
 */
export const markLastSeenSql = (ids: string): string =>
  `update _revision set (seen_run, seen_at) = (
     select last_checked_run, checked_at from _resource where id = resource_id)
   where to_run is null and resource_id in (
     select id from _resource where id in (${ids}) and absent_by is not 'answer')`;

/** Reads what is noted as absent, for deciding about it. */

interface OwnerRow {
  readonly id: number;
  readonly ownerId: number | null;
  readonly isList: 0 | 1;
  readonly isGone: 0 | 1;
  readonly absentBy: AbsenceProof | null;
}

/** What was never held counts as well: it is as absent, and as much a sign of something wrong. */
const isLive = "state in ('held', 'due', 'failed') and gone_run is null";

export function readNotedAbsences(db: Connection): { noted: NotedAbsence[]; live: LiveCounts } {
  const rows = db
    .prepare<[], { id: number; kind: string; ownerId: number | null }>(
      "select id, kind, owner_id as ownerId from _resource where absent_by in ('answer', 'listing') order by id",
    )
    .all();
  const selectOwner = db.prepare<[number], OwnerRow>(
    `select id, owner_id as ownerId, exists (select 1 from _page where id = r.id) as isList, state = 'gone' as isGone,
       absent_by as absentBy from _resource r where id = ?`,
  );
  const countIn = db
    .prepare<[number], number>(`select count(*) from _resource where owner_id = ? and ${isLive}`)
    .pluck();
  const countOf = db
    .prepare<[string], number>(`select count(*) from _resource where kind = ? and ${isLive}`)
    .pluck();

  const findOwner = (id: number | null) => (id === null ? undefined : selectOwner.get(id));
  /** A list that is gone says nothing of its items, so only entities count. */
  const findFate = (ownerId: number | null): Pick<NotedAbsence, "parentId" | "isBelowTombstone"> => {
    // Who owns whom is told by the service, which may lead in a circle.
    const seen = new Set<number>();
    for (let owner = findOwner(ownerId); owner !== undefined; owner = findOwner(owner.ownerId)) {
      if (seen.has(owner.id)) break;
      seen.add(owner.id);
      if (owner.isList) continue;
      if (owner.isGone) return { parentId: null, isBelowTombstone: true };
      if (owner.absentBy !== null && owner.absentBy !== "parent")
        return { parentId: owner.id, isBelowTombstone: false };
    }
    return { parentId: null, isBelowTombstone: false };
  };
  return {
    noted: rows.map(({ id, kind, ownerId }) => ({
      id,
      kind,
      collectionId: findOwner(ownerId)?.isList ? ownerId : null,
      ...findFate(ownerId),
    })),
    live: {
      inCollection: (collectionId) => countIn.get(collectionId) ?? 0,
      ofKind: (kind) => countOf.get(kind) ?? 0,
    },
  };
}
