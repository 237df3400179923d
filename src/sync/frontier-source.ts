/** Hands the due resources of a mirror to an engine, each one once, until the run is to stop. */
import type { JobSource } from "../../jobs/engine.ts";
import type { FetchJob } from "../../jobs/fetch-job.ts";
import type { DueResource, Frontier } from "../mirror/frontier.ts";

/** Due resources are read from the mirror so many at a time, which costs nothing beside fetching them. */
const readAhead = 2048;

export interface FrontierSource extends JobSource {
  /** Tells it that results were ingested: they are no longer under way, and more may be due. */
  noteIngested(resourceIds: readonly number[], failedIds: readonly number[]): void;
}

export function frontierSource(frontier: Frontier, isStopping: () => boolean): FrontierSource {
  const underWay = new Set<number>();
  const givenUp = new Set<number>();
  let ready: DueResource[] = [];
  let mayHaveMore = true;

  const refill = () => {
    const due = frontier.take(readAhead + underWay.size + givenUp.size);
    ready = due.filter(({ id }) => !underWay.has(id) && !givenUp.has(id)).reverse();
    mayHaveMore = ready.length > 0;
  };

  return {
    next(limit) {
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
