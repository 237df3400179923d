/** Reads what is noted as absent, for deciding about it. */
import type { AbsenceProof } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";
import type { LiveCounts, NotedAbsence } from "./decide-absences.ts";

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
