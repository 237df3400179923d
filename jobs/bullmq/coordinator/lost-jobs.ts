/**
 * Looks after the jobs without a response. In: their states, once a second. Out: those that workers have postponed for too
 * long, since the clock of a worker may be wrong; those that another program has altered; and lost ones: those that Redis no
 * longer has, although no response came. Their worker was killed or frozen, or Redis lost data. A job must be missing at two
 * checks, since its response may be on its way between the two queues.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Queue } from "bullmq";

/** The state of the queue at one check. */
export interface QueueStatus {
  readonly workerCount: number;
  /** `waiting`: there are jobs, and all of them wait. `postponed`: workers have postponed all of them. */
  readonly jobs: "waiting" | "postponed" | "active";
}

export interface LostJobsOptions {
  readonly requestQueue: Queue;
  /** While a response waits here, no job counts as lost. */
  readonly responseQueue: Queue;
  /** The jobs without a response. */
  readonly pendingJobIds: () => ReadonlySet<string>;
  readonly onLost: (jobId: string) => void;
  /** Called for a job that has been postponed for longer than workers postpone one. */
  readonly onOverdue: (jobId: string) => void;
  /** Called every few seconds for a job without a response. */
  readonly isAltered: (jobId: string) => Promise<boolean>;
  readonly onAltered: (jobId: string) => void;
  /** Called at each check. */
  readonly onStatus: (status: QueueStatus) => void;
  readonly signal: AbortSignal;
}

const checkMillis = 1_000;
/** Of the coordinator's clock: a worker postpones a job for five seconds of its own. */
const maxPostponedChecks = 7;
/** Most jobs have a response sooner. */
const checksBetweenLooks = 5;
const presentStates = ["waiting", "delayed", "active", "prioritized"];

/** Resolves once the signal is aborted. */
export async function detectLostJobs(options: LostJobsOptions): Promise<void> {
  const { requestQueue, responseQueue, pendingJobIds, onLost, onOverdue, onStatus, signal } = options;
  const { isAltered, onAltered } = options;
  let known: ReadonlySet<string> = new Set();
  let missing: ReadonlySet<string> = new Set();
  let checks: ReadonlyMap<string, number> = new Map();
  /** How many checks in a row have found the job postponed. */
  let postponed: ReadonlyMap<string, number> = new Map();
  while (!signal.aborted) {
    try {
      const pending = pendingJobIds();
      const checked = [...pending].filter((jobId) => known.has(jobId));
      const states = await Promise.all(checked.map((jobId) => requestQueue.getJobState(jobId)));
      const absent = checked.filter((_, n) => !presentStates.includes(states[n] ?? ""));
      const hasNoResponses = absent.length === 0 || (await responseQueue.count()) === 0;
      for (const jobId of absent) if (hasNoResponses && missing.has(jobId)) onLost(jobId);
      missing = new Set(absent);
      known = pending;
      const delayed = checked.filter((_, n) => states[n] === "delayed");
      postponed = new Map(delayed.map((jobId) => [jobId, (postponed.get(jobId) ?? 0) + 1]));
      for (const [jobId, count] of postponed) if (count > maxPostponedChecks) onOverdue(jobId);
      checks = new Map(checked.map((jobId) => [jobId, (checks.get(jobId) ?? 0) + 1]));
      for (const [jobId, count] of checks)
        if (count % checksBetweenLooks === 0 && (await isAltered(jobId))) onAltered(jobId);
      const areAll = (state: string) => states.length > 0 && states.every((each) => each === state);
      const jobs = areAll("waiting") ? "waiting" : areAll("delayed") ? "postponed" : "active";
      onStatus({ workerCount: await requestQueue.getWorkersCount(), jobs });
      await delay(checkMillis, undefined, { signal });
    } catch {
      // Redis is unreachable, or the signal was aborted: earlier checks say nothing any more.
      known = new Set();
      missing = new Set();
      await delay(checkMillis, undefined, { signal }).catch(() => {});
    }
  }
}
