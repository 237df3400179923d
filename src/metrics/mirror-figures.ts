/** The figures of a mirror and its allowance, read from their files: no run has to be active, and nothing is requested. */

import type { MirrorFigures } from "../../jobs/metrics/mirror-metrics.ts";
import { readMirrorId } from "../mirror/file/meta.ts";
import { type MirrorReader, readMirror } from "../mirror/reader.ts";
import { readCoverage } from "../mirror/runs/coverage.ts";
import { isLocked } from "../platform/process-lock.ts";
import { readLatest } from "../sync/rate-limit/known-allowance.ts";
import { mirrorKeyOf } from "../sync/workers.ts";

export interface MirrorPlace {
  /** The mirror's file. */
  readonly file: string;
  readonly ledgerFile: string;
  /** `catalogue`, or the name of an account. */
  readonly principal: string;
}

/** @param now epoch milliseconds @throws MirrorError, LedgerError */
export function readMirrorFigures({ file, ledgerFile, principal }: MirrorPlace, now: number): MirrorFigures {
  return readMirror(file, (mirror) => {
    const { baseUrl } = mirror.identity;
    const { origin, host } = new URL(baseUrl);
    const allowance = readLatest(ledgerFile, origin, now);
    const isRunning = isLocked(file);
    const runs = sumRuns(mirror);
    const open = runs.filter(({ outcome }) => outcome === "open").length;
    const outcomes = runs.filter(({ outcome }) => outcome !== "open").map((row) => [row.outcome, row.count]);
    // The next run closes it.
    const killed = open > 0 && !isRunning ? open : 0;
    const counts: Record<string, number> = Object.fromEntries(outcomes);
    const sum = (name: "sent" | "counted" | "notModified" | "failed") =>
      runs.reduce((total, row) => total + row[name], 0);
    const last = (name: "startedAt" | "endedAt" | "completeAt") =>
      runs.reduce<number | null>((latest, row) => {
        const at = row[name];
        return at === null ? latest : Math.max(latest ?? 0, Date.parse(at));
      }, null);
    return {
      ...{ principal, service: host.replaceAll(":", "-"), isRunning },
      mirror: mirrorKeyOf({ file, mirrorId: readMirrorId(mirror.db) }),
      ...{ startedAt: last("startedAt"), endedAt: last("endedAt"), completeAt: last("completeAt") },
      updatedAt: now,
      requests: {
        ...{ sent: sum("sent"), counted: sum("counted"), notModified: sum("notModified") },
        // Known during a run only.
        unanswered: null,
      },
      // The run log has no reasons.
      failures: { unknown: sum("failed") },
      runs: { ...counts, ...(killed > 0 && { killed: killed + (counts.killed ?? 0) }) },
      allowance: {
        limit: allowance?.limit ?? null,
        remaining: allowance?.remaining ?? null,
        resetAt: allowance?.resetAt ?? null,
      },
      resources: sumStates(mirror),
      ingestLagSeconds: null,
    };
  });
}

interface RunSums {
  readonly outcome: string;
  readonly count: number;
  readonly sent: number;
  readonly counted: number;
  readonly notModified: number;
  readonly failed: number;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly completeAt: string | null;
}

/**
 * The runs, by outcome, with the same outcomes as `publishMetrics`. A run that was killed is closed by the next one, without
 * its requests. Raw SQL: it sums values in JSON.
 */
function sumRuns({ db }: MirrorReader): RunSums[] {
  return db
    .prepare<[], RunSums>(
      `with run as (
         select started_at, ended_at, stopped, counts_json,
           coalesce((
             select sum(kind.value ->> '$.held') > 0
               and sum(kind.value ->> '$.due') + sum(kind.value ->> '$.failed') + sum(kind.value ->> '$.partial')
                 + sum(kind.value ->> '$.missingLinks') + sum(kind.value ->> '$.awaitingApproval') = 0
             from json_each(coverage_json) as kind
           ), 0) as is_complete
         from _run
       )
       select
         case
           when ended_at is null then 'open'
           when stopped = 'interrupted' and counts_json ->> '$.requests' is null then 'killed'
           else coalesce(stopped, iif(is_complete, 'complete', 'incomplete'))
         end as outcome,
         count(*) as count,
         total(counts_json ->> '$.requests.sent') as sent,
         total(counts_json ->> '$.requests.counted') as counted,
         total(counts_json ->> '$.requests.notModified') as notModified,
         total(counts_json ->> '$.requests.failed') as failed,
         max(started_at) as startedAt,
         max(ended_at) as endedAt,
         max(ended_at) filter (where is_complete and (stopped is null or (
           stopped in ('allowance', 'budget') and counts_json ->> '$.resources.new'
             + counts_json ->> '$.resources.changed' + counts_json ->> '$.resources.unchanged' > 0
         ))) as completeAt
       from run group by outcome`,
    )
    .all();
}

/** As of the end of the last run, which has counted them; counted anew while one is active. */
function sumStates(mirror: MirrorReader): Record<"due" | "held" | "failed" | "gone", number> {
  const sums = { due: 0, held: 0, failed: 0, gone: 0 };
  for (const kind of readCoverage(mirror).kinds) {
    for (const state of Object.keys(sums) as (keyof typeof sums)[]) sums[state] += kind[state];
  }
  return sums;
}
