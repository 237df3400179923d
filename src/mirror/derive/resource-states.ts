/** The state of a resource: the statements with which the result of a request is stored in its row of `_resource`. */
import { type Expression, sql } from "kysely";
import type { AbsenceProof, ResourceState } from "../../../schema/tables.ts";
import { withoutNote } from "../absence/absences.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, type Statement } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";

export interface StoredResource {
  readonly id: number;
  readonly url: string;
  readonly kind: string;
  readonly ownerId: number | null;
  readonly state: ResourceState;
  readonly etag: string | null;
  readonly goneRun: number | null;
  readonly absentBy: AbsenceProof | null;
  /** 0 before the first response of any kind. */
  readonly lastCheckedRun: number;
}

/** The columns of a `StoredResource`, from `_resource`. */
export const storedResourceColumns = [
  ...(["id", "url", "kind", "owner_id as ownerId", "state", "etag", "gone_run as goneRun"] as const),
  ...(["absent_by as absentBy", "last_checked_run as lastCheckedRun"] as const),
] as const;

export interface ResourceStates {
  readonly select: Statement<{ id: number }, StoredResource>;
  readonly setHeld: Statement<Check & { etag: string | null }, unknown>;
  readonly setChecked: Statement<Check, unknown>;
  /** Of a resource that was never held. */
  readonly setAbsent: Statement<Check & { state: ResourceState }, unknown>;
  /** Of a held resource: the end of the run decides whether it becomes a tombstone. */
  readonly noteAbsent: Statement<Check, unknown>;
  /** With the time of the next request; null for the next run. */
  readonly setFailed: Statement<{ id: number; error: string; retryAt: number | null }, unknown>;
}

interface Check {
  id: number;
  run: number;
  at: number;
}

const checked = (p: Check) => ({
  checked_run: p.run,
  last_checked_run: p.run,
  checked_at: p.at,
  attempts: 0,
  error: null,
  retry_at: null,
});

export function prepareStates(db: Connection): ResourceStates {
  return {
    select: prepare(db, (p: { id: number }) =>
      q.selectFrom("_resource").select(storedResourceColumns).where("id", "=", p.id),
    ),
    setHeld: prepare(db, (p: Check & { etag: string | null }) =>
      q
        .updateTable("_resource")
        .set({ ...checked(p), state: "held", etag: p.etag, fetched_run: p.run, gone_run: null })
        .where("id", "=", p.id),
    ),
    setChecked: prepare(db, (p: Check) =>
      q
        .updateTable("_resource")
        .set({
          ...checked(p),
          // Failed with a validator is no state that Armoire makes; left so, it would be asked without end.
          state: sql<ResourceState>`iif(state in ('due', 'failed'), 'held', state)`,
          gone_run: null,
        })
        .where("id", "=", p.id),
    ),
    setAbsent: prepare(db, (p: Check & { state: ResourceState }) =>
      q
        .updateTable("_resource")
        .set({
          ...checked(p),
          state: p.state,
          etag: null,
          gone_run: firstOf("gone_run", p.run),
          ...withoutNote,
        })
        .where("id", "=", p.id),
    ),
    noteAbsent: prepare(db, (p: Check) =>
      q
        .updateTable("_resource")
        .set({
          ...checked(p),
          state: "held",
          fetched_run: p.run,
          absent_run: firstOf("absent_run", p.run),
          absent_by: "response",
        })
        .where("id", "=", p.id),
    ),
    setFailed: prepare(db, (p: { id: number; error: string; retryAt: number | null }) =>
      q
        .updateTable("_resource")
        .set((eb) => ({
          attempts: eb("attempts", "+", 1),
          error: p.error,
          retry_at: p.retryAt,
          state: sql<ResourceState>`case
            when state <> 'due' then state
            when exists (select 1 from _revision where resource_id = _resource.id and to_run is null) then 'held'
            else 'failed' end`,
        }))
        .where("id", "=", p.id),
    ),
  };
}

/** The value that the column has, or else this one. */
const firstOf = (column: string, value: number): Expression<number> =>
  sql<number>`coalesce(${sql.ref(column)}, ${value})`;
