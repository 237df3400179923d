/** The run log: begins, closes and reads runs. A run that died is closed by the next one; a closed run never changes. */
import type { InferResult } from "kysely";
import { isoTimeOf, type ResourceState } from "../../../schema/tables.ts";
import { requireWholeNumbers } from "../../platform/errors.ts";
import { isLocked } from "../../platform/process-lock.ts";
import type { Absences } from "../absence/absences.ts";
import { closeAbsences, supersedePages } from "../absence/tombstones.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { isActive } from "../points/resolve-point.ts";
import { q } from "../queries/query-builder.ts";
import type { MirrorReader } from "../reader.ts";
import { isRunReport, isRunScope, parseStored } from "../rows/stored-values.ts";
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

export interface RunRecord {
  readonly id: number;
  readonly startedAt: string;
  /** ISO 8601, UTC, as `startedAt`; null while it runs, and if its process died. */
  readonly endedAt: string | null;
  /** `not-finished`: its process died, and the next run will close it. */
  readonly state: "ended" | "running" | "not-finished";
  /** `incremental`, `verify`, `full`, or `load` for snapshots. */
  readonly mode: string;
  /** The options that limited it, for people; their names may change. */
  readonly scope: unknown;
  /** Null if nothing was left to do, and for an open run. */
  readonly stopped: StopReason | null;
  /** The message of the error, or of the unexplained refusal, that stopped the run. */
  readonly error: string | null;
  readonly counts: RunCounts | null;
  /** When the run was pruned: ISO 8601, UTC. Its state can no longer be shown. */
  readonly prunedAt: string | null;
}

/** The file's lock shows whether an open run is still running. */
type RunLog = Pick<MirrorReader, "db" | "file">;

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

/**
 * The newest runs, newest first.
 * @param limit -1 for all
 * @param idle also the runs that sent no request and changed nothing. Default: true
 * @param before only runs with a lower number. Default: all
 * @throws RangeError for other numbers than whole ones
 */
export function listRuns(
  { db, file }: RunLog,
  limit: number,
  idle = true,
  before: number = Number.MAX_SAFE_INTEGER,
): RunRecord[] {
  requireWholeNumbers(-1, { limit, before });
  const select = prepare(db, (p: { limit: number; idle: number; before: number }) =>
    selectRuns()
      .where("id", "<", p.before)
      .where((eb) => eb.or([eb(eb.val(p.idle), "=", 1), isActive()]))
      .orderBy("id", "desc")
      .limit(p.limit),
  );
  return select.all({ limit, idle: Number(idle), before }).map((row) => toRecord(row, file));
}

export interface RunCount {
  readonly all: number;
  /** Those that sent no request and changed nothing. */
  readonly idle: number;
}

/** @param before only runs with a lower number. Default: all */
export function countRuns({ db }: RunLog, before: number = Number.MAX_SAFE_INTEGER): RunCount {
  const select = prepare(db, (p: { before: number }) =>
    q
      .selectFrom("_run")
      .select(({ fn }) => fn.countAll<number>().as("all"))
      .select(({ fn }) =>
        fn
          .countAll<number>()
          .filterWhere((eb) => eb.not(isActive()))
          .as("idle"),
      )
      .where("id", "<", p.before),
  );
  return select.get({ before }) ?? { all: 0, idle: 0 };
}

/** Null if there is no such run. */
export function readRun({ db, file }: RunLog, runId: number): RunRecord | null {
  const row = prepare(db, (p: { id: number }) => selectRuns().where("id", "=", p.id)).get({ id: runId });
  return row === undefined ? null : toRecord(row, file);
}

const selectRuns = () =>
  q
    .selectFrom("_run")
    .select(["id", "started_at as startedAt", "ended_at as endedAt", "mode", "scope_json as scope"])
    .select(["stopped", "counts_json as report", "pruned_at as prunedAt"]);
type RunRow = InferResult<ReturnType<typeof selectRuns>>[number];
type RunReport = Partial<RunCounts> & { readonly error?: string };

function toRecord({ scope, stopped, report, ...row }: RunRow, file: string): RunRecord {
  const place = `_run ${row.id}`;
  const { error, ...counts }: RunReport = report === null ? {} : parseStored(report, isRunReport, place);
  const openState = () => (isLocked(file) ? "running" : "not-finished");
  return {
    ...row,
    state: row.endedAt === null ? openState() : "ended",
    scope: parseStored(scope, isRunScope, place),
    stopped: stopped as StopReason | null,
    error: error ?? null,
    counts: "resources" in counts ? (counts as RunCounts) : null,
  };
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
