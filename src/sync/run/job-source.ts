/** Hands planned resources to an engine, each one once, until the run is to stop. */
import type { JobSource } from "../../../jobs/engine.ts";
import type { FetchJob } from "../../../jobs/fetch-job.ts";
import type { Planner } from "../plan/planner.ts";
import type { PlannedResource } from "../plan/request.ts";

/** Planned together where what is found makes no difference to what comes next: that costs nothing beside fetching. */
const readAhead = 2048;
/** Planned together where every answer may change what is worth most next. */
const fewAhead = 16;

export interface MirrorJobSource extends JobSource {
  /** Tells it that results were ingested: they are no longer under way, and more may be due. */
  noteIngested(resourceIds: readonly number[], failedIds: readonly number[]): void;
}

export interface JobSourceOptions {
  /** Requests under way at a time. */
  readonly concurrency: number;
  /** Whether so much may be asked that the order makes no difference. */
  readonly isPlentiful: () => boolean;
  readonly isStopping: () => boolean;
}

export function createJobSource(
  planner: Planner,
  { concurrency, isPlentiful, isStopping }: JobSourceOptions,
): MirrorJobSource {
  const underWay = new Set<number>();
  const givenUp = new Set<number>();
  let ready: PlannedResource[] = [];
  let mayHaveMore = true;

  const refill = () => {
    const inBulk = isPlentiful();
    // The next plan waits for what is under way, so that it is made from all that was found.
    if (!inBulk && underWay.size > 0) return;
    ready = planner
      .take(inBulk ? readAhead : fewAhead, (id) => underWay.has(id) || givenUp.has(id))
      .reverse();
    mayHaveMore = ready.length > 0;
  };

  return {
    next(asked) {
      // Where every request counts, what is answered is stored before more is asked: a kill costs what is under way, no more.
      const limit = isPlentiful() ? asked : Math.min(asked, concurrency - underWay.size);
      const jobs: FetchJob[] = [];
      while (jobs.length < limit && !isStopping()) {
        if (ready.length === 0 && mayHaveMore) refill();
        const resource = ready.pop();
        if (resource === undefined) break;
        underWay.add(resource.id);
        jobs.push({ resourceId: resource.id, url: resource.url, etag: resource.etag });
      }
      return jobs;
    },
    noteIngested(resourceIds, failedIds) {
      for (const id of resourceIds) underWay.delete(id);
      // What failed stays due, for the next run.
      for (const id of failedIds) givenUp.add(id);
      mayHaveMore = true;
    },
  };
}
