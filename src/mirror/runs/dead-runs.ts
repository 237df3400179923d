/** Runs whose process died before it could close them: what they did is in the mirror, and nowhere else. */
import { isoTimeOf } from "../../../schema/stored-time.ts";
import type { Connection } from "../file/connection.ts";
import type { RunCounts } from "./runs.ts";

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

/** A check of what is due again since has a negative run. */
function readTraces(db: Connection, runId: number): Traces {
  return db
    .prepare<{ run: number }, Traces>(
      `with checked as materialized (
         select id, checked_at from _resource where checked_run in (:run, -:run)
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
