/**
 * Notes on absent resources. A resource is noted with the proof of its absence, and keeps its state until the run
 * closes; if it is seen again before that, the note is cleared. Resources below an absent one are noted too, so that
 * they are not requested. Call everything inside a transaction.
 */
import { sql } from "kysely";
import type { AbsenceProof } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { idsIn, idTable, q } from "../queries/query-builder.ts";
import type { LiveCounts, NotedAbsence } from "./bulk-deletions.ts";

export interface Absences {
  /** Notes items that their listing no longer contains, and everything below them. */
  noteUnlisted(ids: readonly number[], runId: number): void;
  /** Notes everything below these resources, unless a listing of another owner contains it. */
  noteBelow(ids: readonly number[], runId: number): void;
  /**
   * Clears the notes of resources that were just seen, and of everything below them. Items on seen pages lose a note
   * that only a listing had caused.
   */
  clearSeen(ids: readonly number[]): void;
  /** Marks held resources as due, even if this run has checked them. */
  markDue(ids: readonly number[]): void;
}

/** Column values of a resource without a note. */
export const withoutNote = { absent_run: null, absent_by: null } as const;

/** Column values of a resource that is requested again as if it had never been checked. */
export const dueAgain = { state: "due", checked_run: 0 } as const;

export function prepareAbsences(db: Connection): Absences {
  const noteUnlisted = prepare(db, (p: { ids: string; run: number }) =>
    q
      .updateTable("_resource")
      .set({ absent_run: p.run, absent_by: "listing" })
      .where("absent_by", "is not", "response")
      .where("id", "in", idsIn(p.ids)),
  );
  const isAnyNoted = prepareColumn(db, () =>
    q.selectFrom("_resource").select(sql<1>`1`.as("found")).where("absent_by", "is not", null).limit(1),
  );
  // The plus signs prevent a scan of all notes, of which there may be more than of anything else.
  const clear = prepare(db, (p: { ids: string }) =>
    q
      .updateTable("_resource")
      .set(withoutNote)
      .where(sql`+absent_by`, "is not", null)
      .where("id", "in", idsIn(p.ids)),
  );
  const clearListed = prepare(db, (p: { ids: string }) =>
    q
      .updateTable("_resource")
      .set(withoutNote)
      .where(sql`+absent_by`, "=", "listing")
      .where("id", "in", (eb) =>
        eb.selectFrom(idTable(p.ids)).innerJoin("_member as m", "m.page_id", "j.value").select("m.item_id"),
      ),
  );
  const markDue = prepare(db, (p: { ids: string }) =>
    q.updateTable("_resource").set(dueAgain).where("state", "=", "held").where("id", "in", idsIn(p.ids)),
  );
  // Raw: recursive, with join orders that the planner must not change.
  const noteBelow = db.prepare<{ ids: string; run: number }>(
    `with recursive below (id) as (
       select value from json_each(:ids) where value not in (select id from _page)
       union select r.id from below join _resource r on r.owner_id = below.id
       where r.state in ('held', 'due', 'failed') and not exists (
         select 1 from _member m join _page p on p.id = m.page_id join _resource l on l.id = p.collection_id
         where m.item_id = r.id and l.id <> r.owner_id and l.state = 'held' and l.absent_by is null)
     )
     update _resource set absent_run = :run, absent_by = 'parent'
     where absent_by is null and id in (select id from below) and id not in (select value from json_each(:ids))`,
  );
  const clearBelow = db.prepare<{ ids: string }>(
    `with recursive below (id) as (
       select r.id from json_each(:ids) j cross join _resource r on r.owner_id = j.value where +r.absent_by = 'parent'
       union select r.id from below cross join _resource r on r.owner_id = below.id where +r.absent_by = 'parent'
     ) update _resource set absent_run = null, absent_by = null
     where +absent_by = 'parent' and id in (select id from below)`,
  );

  const noteAllBelow = (ids: readonly number[], run: number): void => {
    if (ids.length > 0) noteBelow.run({ ids: JSON.stringify(ids), run });
  };
  return {
    noteUnlisted(ids, run) {
      noteUnlisted.run({ ids: JSON.stringify(ids), run });
      noteAllBelow(ids, run);
    },
    noteBelow: noteAllBelow,
    clearSeen(ids) {
      if (ids.length === 0 || isAnyNoted.get() === undefined) return;
      const seen = { ids: JSON.stringify(ids) };
      clear.run(seen);
      clearListed.run(seen);
      clearBelow.run(seen);
    },
    markDue: (ids) => void markDue.run({ ids: JSON.stringify(ids) }),
  };
}

const lastValidatorSql =
  "iif(exists (select 1 from main._revision n where n.resource_id = r.id and n.seq > v.seq), v.etag, coalesce(r.etag, v.etag))";

/** SQL for the last ETag of revision `v` of resource `r`, also as of a point; null where `Last-Modified` is the validator. */
export const lastEtagSql = `iif(${lastValidatorSql} like '___, __ ___ ____ __:__:__ GMT', null, ${lastValidatorSql})`;

/**
 * SQL that records in current revisions when they were last seen, and with which ETag. To be run before the next response is recorded, be
 * it a new body or an absence. A resource with a note `response` was recorded when it got that note. It is text because
 * Kysely cannot set two columns from one row.
 * @param ids SQL that yields the resources
 */
export const markLastSeenSql = (ids: string): string =>
  `update _revision set (seen_run, seen_at, etag) = (
     select last_checked_run, checked_at, etag from _resource where id = resource_id)
   where to_run is null and resource_id in (
     select id from _resource where id in (${ids}) and absent_by is not 'response')`;

/** Resources that were never held are counted as well: they are as absent, and as much a sign of an error. */
const countLive = () =>
  q
    .selectFrom("_resource")
    .select((eb) => [
      eb.fn.countAll<number>().as("all"),
      eb.fn.countAll<number>().filterWhere("state", "=", "held").as("held"),
    ])
    .where("state", "in", ["held", "due", "failed"])
    .where("gone_run", "is", null);

/** The input of `decideAbsences`: the noted absences, without those below others, and the counts of live resources. */
export function readNotedAbsences(db: Connection): { noted: NotedAbsence[]; live: LiveCounts } {
  const noted = prepare(db, () =>
    q
      .selectFrom("_resource")
      .select(["id", "kind", "state", "owner_id as ownerId"])
      .where("absent_by", "in", ["response", "listing"])
      .orderBy("id"),
  ).all();
  const selectOwner = prepare(db, (p: { id: number }) =>
    q
      .selectFrom("_resource as r")
      .select(["id", "owner_id as ownerId", "absent_by as absentBy"])
      .select((eb) => [
        eb
          .exists(eb.selectFrom("_page").select(sql<1>`1`.as("found")).whereRef("_page.id", "=", "r.id"))
          .as("isList"),
        eb("state", "=", "gone").as("isGone"),
      ])
      .where("id", "=", p.id),
  );
  const countIn = prepare(db, (p: { id: number }) => countLive().where("owner_id", "=", p.id));
  const countOf = prepare(db, (p: { kind: string }) => countLive().where("kind", "=", p.kind));

  const findOwner = (id: number | null) => (id === null ? undefined : selectOwner.get({ id }));
  /** Only entities count as parents: a listing that is gone proves nothing about its items. */
  const findParent = (
    id: number,
    ownerId: number | null,
  ): Pick<NotedAbsence, "parentId" | "isBelowTombstone"> => {
    // A mirror that earlier versions wrote may have a circle of owners.
    const visited = new Set([id]);
    for (let owner = findOwner(ownerId); owner !== undefined; owner = findOwner(owner.ownerId)) {
      if (visited.has(owner.id)) break;
      visited.add(owner.id);
      if (owner.isList) continue;
      if (owner.isGone) return { parentId: null, isBelowTombstone: true };
      if (isOwnAbsence(owner.absentBy)) return { parentId: owner.id, isBelowTombstone: false };
    }
    return { parentId: null, isBelowTombstone: false };
  };
  return {
    noted: noted.map(({ id, kind, state, ownerId }) => ({
      ...{ id, kind, isHeld: state === "held" },
      collectionId: findOwner(ownerId)?.isList ? ownerId : null,
      ...findParent(id, ownerId),
    })),
    live: {
      inCollection: (id) => countIn.get({ id }) ?? none,
      ofKind: (kind) => countOf.get({ kind }) ?? none,
    },
  };
}

const none = { all: 0, held: 0 };

const isOwnAbsence = (proof: AbsenceProof | null): boolean => proof !== null && proof !== "parent";
