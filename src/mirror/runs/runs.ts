/** The run log. A run that died is closed by the next one; a closed run never changes. */

import { isoTimeOf } from "../../../schema/tables.ts";
import { isLocked } from "../../platform/process-lock.ts";
import type { Absences } from "../absence/absences.ts";
import { closeAbsences } from "../absence/tombstones.ts";
import type { Connection } from "../file/connection.ts";
import type { MirrorReader } from "../reader.ts";

/** Why a run ended before nothing was due. */
export type StopReason = "budget" | "allowance" | "interrupted" | "approval" | "error";

export interface RunStart {
  readonly startedAt: string;
  readonly mode: string;
  /** What was asked for: depth, brands, followed links; kept for the reader of the log. */
  readonly scope: unknown;
}

export interface RunEnd {
  readonly endedAt: string;
  /** What stopped it, if anything; where absences wait for approval and nothing else did, that does. */
  readonly stopped: StopReason | null;
  /** Of what is gone, only what was found so far. */
  readonly counts: RunCounts;
  /** Makes tombstones of whatever is noted as absent, however much it is. */
  readonly approve: boolean;
  /** What went wrong, where an error stopped it. */
  readonly error?: string;
}

/** What was decided when a run closed. */
export interface RunClosing {
  readonly stopped: StopReason | null;
  /** Resources that became tombstones. */
  readonly gone: number;
  /** Resources that are absent and wait for approval. */
  readonly waiting: number;
  /** Of what too much would go at once. */
  readonly masses: readonly BulkDeletionOfRun[];
  /** Collections whose pages do not make one whole. */
  readonly partial: number;
}

export interface BulkDeletionOfRun {
  readonly kind: string;
  /** URL of the list; null when they are of several lists, or of none. */
  readonly collection: string | null;
  readonly absent: number;
  /** How many there are, the absent ones included. */
  readonly of: number;
}

export interface RunCounts {
  /** Null for a run that died: nobody knows. */
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
    /** Not told by runs of earlier versions. */
    readonly waiting?: number;
    readonly partial?: number;
    readonly pending?: number;
    readonly notChecked?: number;
  };
}

export interface RunRecord {
  readonly id: number;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** `not-finished`: its process died, and no run has closed it yet. */
  readonly state: "ended" | "running" | "not-finished";
  readonly mode: string;
  readonly scope: unknown;
  readonly stopped: StopReason | null;
  /** What went wrong, where an error stopped it; runs of earlier versions do not tell. */
  readonly error: string | null;
  readonly counts: RunCounts | null;
  /** When it was forgotten, so that it can be shown no more; else null. */
  readonly forgottenAt: string | null;
}

/** A run log, and the file whose lock tells whether an open run still goes on. */
type RunLog = Pick<MirrorReader, "db" | "file">;

/** Opens a run. A run left open by a process that died is closed as interrupted first. */
export function beginRun(db: Connection, { startedAt, mode, scope }: RunStart): number {
  return db.transaction(() => {
    closeDeadRuns(db);
    const inserted = db
      .prepare("insert into _run (started_at, mode, scope_json) values (?, ?, ?)")
      .run(startedAt, mode, JSON.stringify(scope));
    return Number(inserted.lastInsertRowid);
  })();
}

/**
 * Closes a run: pages that no chain leads to any more are superseded, noted absences are decided, and the run's report is
 * kept.
 */
export function closeRun(db: Connection, absences: Absences, runId: number, end: RunEnd): RunClosing {
  return db.transaction(() => {
    supersedePages(db);
    const { gone, waiting, masses } = closeAbsences(db, absences, runId, end.approve);
    const partial =
      db.prepare<[], number>("select count(*) from _pass where verdict = 'partial'").pluck().get() ?? 0;
    const stopped = end.stopped ?? (waiting > 0 ? "approval" : null);
    const { requests, resources } = end.counts;
    const counts: RunCounts = {
      requests,
      resources: { ...resources, gone: resources.gone + gone, waiting, partial },
    };
    db.prepare("update _run set ended_at = ?, stopped = ?, counts_json = ? where id = ?").run(
      end.endedAt,
      stopped,
      JSON.stringify({ ...counts, error: end.error }),
      runId,
    );
    const urlOf = db.prepare<[number], string>("select url from _resource where id = ?").pluck();
    return {
      stopped,
      gone,
      waiting,
      partial,
      masses: masses.map(({ collectionId, ...mass }) => ({
        ...mass,
        collection: collectionId === null ? null : (urlOf.get(collectionId) ?? null),
      })),
    };
  })();
}

function supersedePages(db: Connection): void {
  db.exec(
    `with recursive reached (id) as (
       select id from _page where collection_id = id
       union select p.next_id from _page p join reached on reached.id = p.id where p.next_id is not null
     )
     update _resource set state = 'superseded', absent_run = null, absent_by = null
     where state <> 'superseded' and id in (select id from _page) and id not in (select id from reached)`,
  );
}

/** The run log, newest first. */
export function listRuns({ db, file }: RunLog, limit: number): RunRecord[] {
  const rows = db.prepare<[number], RunRow>("select * from _run order by id desc limit ?").all(limit);
  return rows.map((row) => toRecord(row, file));
}

/** Null where there is no such run. */
export function readRun({ db, file }: RunLog, runId: number): RunRecord | null {
  const row = db.prepare<[number], RunRow>("select * from _run where id = ?").get(runId);
  return row === undefined ? null : toRecord(row, file);
}

function toRecord(row: RunRow, file: string): RunRecord {
  const { error = null, ...counts } = row.counts_json === null ? {} : JSON.parse(row.counts_json);
  const openState = () => (isLocked(file) ? "running" : "not-finished");
  return {
    id: row.id,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    state: row.ended_at === null ? openState() : "ended",
    mode: row.mode,
    scope: JSON.parse(row.scope_json),
    stopped: row.stopped,
    error,
    counts: row.counts_json === null ? null : counts,
    forgottenAt: row.forgotten_at ?? null,
  };
}

interface RunRow {
  id: number;
  started_at: string;
  ended_at: string | null;
  mode: string;
  scope_json: string;
  stopped: StopReason | null;
  counts_json: string | null;
  /** Missing in mirrors of earlier versions. */
  forgotten_at?: string | null;
}

type State = "due" | "held" | "failed" | "elsewhere" | "superseded" | "gone";

/** How many resources a mirror has in each state, none left out. */
export function countStates(db: Connection): Record<State, number> {
  const counts = { due: 0, held: 0, failed: 0, elsewhere: 0, superseded: 0, gone: 0 };
  // As the index has them, which is read in its order: 20 ms for 120,000.
  const rows = db
    .prepare<[], { state: State; count: number }>(
      "select state, count(*) as count from _resource group by kind, state",
    )
    .all();
  for (const { state, count } of rows) counts[state] += count;
  return counts;
}

/** Runs whose process died before it could close them: what they did is in the mirror, and nowhere else. */

/** Closes them as interrupted, when they did what they did last. How many requests that took, nobody knows any more. */
export function closeDeadRuns(db: Connection): void {
  const open = db
    .prepare<[], { id: number; startedAt: string }>(
      "select id, started_at as startedAt from _run where ended_at is null",
    )
    .all();
  const close = db.prepare<[string, string, number]>(
    "update _run set ended_at = ?, stopped = 'interrupted', counts_json = ? where id = ?",
  );
  for (const { id, startedAt } of open) {
    const { endedAt, ...resources } = readTraces(db, id);
    const counts: RunCounts = { requests: null, resources: { ...resources, failed: null } };
    close.run(endedAt ?? startedAt, JSON.stringify(counts), id);
  }
}

interface Traces {
  readonly endedAt: string | null;
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly gone: number;
}

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
