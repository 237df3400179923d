/** Begins and closes runs. A run that died is closed by the next one; a closed run never changes. */
import { isoTimeOf, type ResourceState } from "../../../schema/tables.ts";
import type { Absences } from "../absence/absences.ts";
import { closeAbsences, supersedePages } from "../absence/tombstones.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { coverageText } from "./coverage.ts";

/** Why a run ended although resources were still due. */
export type StopReason = "budget" | "allowance" | "interrupted" | "approval" | "error";

export interface RunStart {
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly mode: string;
  /** The requested scope, for readers of the log: depth, brands, followed links. */
  readonly scope: unknown;
}

export interface RunEnd {
  /** ISO 8601, UTC. */
  readonly endedAt: string;
  /** Null if nothing was due any more. If absences then wait for approval, the run is stopped by `approval`. */
  readonly stopped: StopReason | null;
  /** `gone` counts only the resources that were found gone before the run closed. */
  readonly counts: RunCounts;
  /** Whether all absences become tombstones, however many there are. */
  readonly approve: boolean;
  /** The message of the error, or of the unexplained refusal, that stopped the run. */
  readonly error?: string;
}

/** The decisions made when a run closed. */
export interface RunClosing {
  readonly stopped: StopReason | null;
  /** Resources that became tombstones. */
  readonly gone: number;
  /** Absent resources that wait for approval. */
  readonly awaitingApproval: number;
  /** The bulk deletions that need approval. */
  readonly bulkDeletions: readonly BulkDeletionOfRun[];
  /** Collections whose pages are inconsistent. */
  readonly partial: number;
}

export interface BulkDeletionOfRun {
  readonly kind: string;
  /** URL of the list; null if the resources are in several lists or in none. */
  readonly collection: string | null;
  readonly absent: number;
  /** All resources of the list or kind, absent ones included. */
  readonly of: number;
}

export interface RunCounts {
  /** As in the report of a sync, and so are `resources`. Null for a run that died: they were counted in memory only. */
  readonly requests: {
    readonly sent: number;
    readonly counted: number;
    readonly notModified: number;
  } | null;
  readonly resources: {
    readonly new: number;
    readonly changed: number;
    readonly unchanged: number;
    readonly gone: number;
    /** Null for a run that died. */
    readonly failed: number | null;
    /** The following are missing for a run that died. */
    readonly awaitingApproval?: number;
    readonly partial?: number;
    readonly pending?: number;
    readonly notChecked?: number;
  };
}

/** Begins a run and returns its id. Closes runs that died first. */
export function beginRun(db: Connection, { startedAt, mode, scope }: RunStart): number {
  const insert = prepare(db, (p: { startedAt: string; mode: string; scope: string }) =>
    q.insertInto("_run").values({ started_at: p.startedAt, mode: p.mode, scope_json: p.scope }),
  );
  return db.transaction(() => {
    closeDeadRuns(db);
    return Number(insert.run({ startedAt, mode, scope: JSON.stringify(scope) }).lastInsertRowid);
  })();
}

/** Closes a run: ends pages that no listing contains any more, validates these listings, decides about absences, and stores the report. */
export function closeRun(db: Connection, absences: Absences, runId: number, end: RunEnd): RunClosing {
  const countPartial = prepareColumn(db, () =>
    q
      .selectFrom("_pass")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("status", "=", "partial"),
  );
  const urlOf = prepareColumn(db, (p: { id: number }) =>
    q.selectFrom("_resource").select("url").where("id", "=", p.id),
  );
  return db.transaction(() => {
    supersedePages(db, absences, runId);
    const { gone, awaitingApproval, bulkDeletions } = closeAbsences(db, absences, runId, end.approve);
    const partial = countPartial.get() ?? 0;
    const stopped = end.stopped ?? (awaitingApproval > 0 ? "approval" : null);
    const { requests, resources } = end.counts;
    const counts: RunCounts = {
      requests,
      resources: { ...resources, gone: resources.gone + gone, awaitingApproval, partial },
    };
    const report = JSON.stringify({ ...counts, error: end.error });
    prepareClose(db).run({ id: runId, endedAt: end.endedAt, stopped, report, coverage: coverageText(db) });
    return {
      stopped,
      gone,
      awaitingApproval,
      partial,
      bulkDeletions: bulkDeletions.map(({ collectionId, ...deletion }) => ({
        ...deletion,
        collection: collectionId === null ? null : (urlOf.get({ id: collectionId }) ?? null),
      })),
    };
  })();
}

function prepareClose(db: Connection) {
  interface Closing {
    id: number;
    endedAt: string;
    stopped: StopReason | null;
    report: string;
    coverage: string;
  }
  return prepare(db, (p: Closing) =>
    q
      .updateTable("_run")
      .set({ ended_at: p.endedAt, stopped: p.stopped, counts_json: p.report, coverage_json: p.coverage })
      .where("id", "=", p.id),
  );
}

/** Closes the runs whose process died, as interrupted at the time of their last stored result. */
function closeDeadRuns(db: Connection): void {
  const selectOpen = prepare(db, () =>
    q.selectFrom("_run").select(["id", "started_at as startedAt"]).where("ended_at", "is", null),
  );
  for (const { id, startedAt } of selectOpen.all()) {
    const { endedAt, ...resources } = readTraces(db, id);
    const counts: RunCounts = { requests: null, resources: { ...resources, failed: null } };
    prepareClose(db).run({
      id,
      // What a load stores is older than its run.
      endedAt: endedAt !== null && endedAt > startedAt ? endedAt : startedAt,
      stopped: "interrupted",
      report: JSON.stringify(counts),
      coverage: coverageText(db),
    });
  }
}

interface Traces {
  readonly endedAt: string | null;
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly gone: number;
}

/** Counts the results that a run stored. Raw SQL: five aggregates over two common table expressions. */
function readTraces(db: Connection, runId: number): Traces {
  return db
    .prepare<{ run: number }, Traces>(
      `with checked as materialized (
         select id, checked_at from _resource where last_checked_run = :run
       ), stored as materialized (
         select resource_id as id, seq, fetched_at from _revision where from_run = :run
       )
       select
         (select ${isoTimeOf("max(at)")} from (select checked_at as at from checked union all select fetched_at from stored)) as endedAt,
         (select count(distinct id) from stored where seq = 1) as new,
         (select count(distinct id) from stored where seq > 1 and id not in (select id from stored where seq = 1)) as changed,
         (select count(*) from checked where id not in (select id from stored)
           and id not in (select id from _resource where gone_run = :run)) as unchanged,
         (select count(*) from _resource where gone_run = :run and state = 'gone') as gone`,
    )
    .get({ run: runId }) as Traces;
}

/** How many resources of the mirror are in each state. */
export function countStates(db: Connection): Record<ResourceState, number> {
  const counts = { due: 0, held: 0, failed: 0, elsewhere: 0, superseded: 0, gone: 0 };
  const select = prepare(db, () =>
    q
      .selectFrom("_resource")
      .select(["state", ({ fn }) => fn.countAll<number>().as("count")])
      // In the order of the index: 20 ms for 120,000 resources.
      .groupBy(["kind", "state"]),
  );
  for (const { state, count } of select.all()) counts[state] += count;
  return counts;
}
