/** Hands planned resources to an engine, each one once, until the run is to stop. */
import type { JobSource } from "../../../jobs/engine.ts";
import type { FetchJob } from "../../../jobs/fetch-job.ts";
import type { Planner } from "../plan/planner.ts";
import type { PlannedResource } from "../plan/request.ts";

/** With an ample allowance, results do not change the order. */
const bulkSize = 2048;
/** With a small allowance, every result may change the order. */
const stepSize = 16;

export interface MirrorJobSource extends JobSource {
  /** To be called after ingesting: these resources are no longer running, and more may be due. */
  noteIngested(resourceIds: readonly number[], failedOrRefusedIds: readonly number[]): void;
}

export interface JobSourceOptions {
  /** Requests running at a time. */
  readonly concurrency: number;
  /** Whether the allowance is so large that the order makes no difference. */
  readonly isAmple: () => boolean;
  readonly isStopping: () => boolean;
  /** Resources that failed or were refused in this run, also in an earlier part of it: they stay as they are. */
  readonly failed: Set<number>;
}

export function createJobSource(
  planner: Planner,
  { concurrency, isAmple, isStopping, failed }: JobSourceOptions,
): MirrorJobSource {
  const running = new Set<number>();
  let ready: PlannedResource[] = [];
  let mayHaveMore = true;

  const refill = () => {
    const isBulk = isAmple();
    // The next plan waits for running jobs, so that it knows all their results.
    if (!isBulk && running.size > 0) return;
    const isRunning = (id: number) => running.has(id);
    const size = isBulk ? bulkSize : stepSize;
    ready = planner.take(size, (id) => isRunning(id) || failed.has(id), isRunning).reverse();
    mayHaveMore = ready.length > 0;
  };

  return {
    next(capacity) {
      // With a small allowance, results are stored before more is requested: a kill then costs only running requests.
      const limit = isAmple() ? capacity : Math.min(capacity, concurrency - running.size);
      const jobs: FetchJob[] = [];
      while (jobs.length < limit && !isStopping()) {
        if (ready.length === 0 && mayHaveMore) refill();
        const resource = ready.pop();
        if (resource === undefined) break;
        running.add(resource.id);
        jobs.push({ resourceId: resource.id, url: resource.url, etag: resource.etag });
      }
      return jobs;
    },
    noteIngested(resourceIds, failedOrRefusedIds) {
      for (const id of resourceIds) running.delete(id);
      for (const id of failedOrRefusedIds) failed.add(id);
      mayHaveMore = true;
    },
  };
}
