/** Reads the run log. */
import type { InferResult } from "kysely";
import { requireWholeNumbers } from "../../platform/errors.ts";
import { isLocked } from "../../platform/process-lock.ts";
import { prepare } from "../file/statements.ts";
import { isActive } from "../points/resolve-point.ts";
import { q } from "../queries/query-builder.ts";
import type { MirrorReader } from "../reader.ts";
import { isRunReport, isRunScope, parseStored } from "../rows/stored-values.ts";
import type { RunCounts, StopReason } from "./runs.ts";

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
