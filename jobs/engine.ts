/**
 * The contract of an engine: what carries out fetch jobs. In: a source that it pulls jobs from as capacity frees up. Out:
 * batches of results, in any order. It never opens the mirror and decides nothing about what is fetched next.
 *
 * What every engine keeps to (`test/jobs/engine-conformance.ts` holds it to that):
 * - each job that the source gave is answered by exactly one result, unless the process dies;
 * - the source is asked again after every batch that the caller has taken, since ingesting may have made more due;
 * - it ends when the source gives nothing, nothing is under way and every result was taken.
 */
import type { FetchJob, JobResult } from "./fetch-job.ts";

export interface JobSource {
  /** At most `limit` jobs that were not given before; none means "nothing now", not "nothing ever". */
  next(limit: number): readonly FetchJob[];
}

export interface Engine {
  /** @param signal cancels what is under way; the results of those jobs say so */
  run(source: JobSource, signal: AbortSignal): AsyncIterable<readonly JobResult[]>;
}
