/**
 * The contract of an engine: what carries out fetch jobs. In: a source that it pulls jobs from as capacity frees up. Out:
 * batches of results, in any order. It never opens the mirror and decides nothing about what is fetched next.
 *
 * What every engine keeps to (`test/jobs/engine-conformance.ts` holds it to that):
 * - each job that the source gave is answered by exactly one result, unless the process dies;
 * - the source is asked again after every batch that the caller has taken, since ingesting may have made more due;
 * - it ends when the source gives nothing, nothing is under way and every result was taken.
 */
import type { ExecuteJob, FetchJob, JobResult } from "./fetch-job.ts";

export interface JobSource {
  /** At most `limit` jobs that were not given before; none means "nothing now", not "nothing ever". */
  next(limit: number): readonly FetchJob[];
}

export interface Engine {
  /** @param signal cancels what is under way; the results of those jobs say so */
  run(source: JobSource, signal: AbortSignal): AsyncIterable<readonly JobResult[]>;
}

/**
 * The engine that there is: a number of jobs under way at a time, pulled as others end, and results gathered into batches.
 * Whether a request is sent from this process or by a worker elsewhere is up to the sender that the door stands on.
 */

export interface EngineOptions {
  /** Fetches under way at a time. */
  readonly concurrency: number;
  /** Results handed over together at most: larger batches cost less, smaller ones lose less at a kill. */
  readonly batchSize?: number;
  /** How long a result may wait for others to share its transaction. */
  readonly lingerMillis?: number;
}

/** What may be finished while the caller is busy, so that neither waits for the other for long; a kill may cost as much. */
const batchesAhead = 3;

export function createEngine(carryOut: ExecuteJob, options: EngineOptions): Engine {
  const { concurrency, batchSize = 256, lingerMillis = 50 } = options;
  return {
    async *run(source: JobSource, signal: AbortSignal) {
      const finished: JobResult[] = [];
      let underWay = 0;
      let hasLingered = false;
      let hasLeft = false;
      let failure: { readonly error: unknown } | null = null;
      let lingering: NodeJS.Timeout | undefined;
      let wake: () => void = () => {};

      // A source with nothing to give may have more once what is finished is ingested: then nobody should wait.
      const isReady = () => finished.length >= batchSize || hasLingered || underWay < concurrency;
      const finish = (result: JobResult) => {
        finished.push(result);
        lingering ??= setTimeout(() => {
          hasLingered = true;
          wake();
        }, lingerMillis);
      };
      const carryOutOne = async (job: FetchJob) => {
        try {
          finish(await carryOut(job, signal));
        } catch (error) {
          failure ??= { error };
        }
        underWay--;
        pull();
        if (isReady()) wake();
      };
      const pull = () => {
        try {
          while (
            underWay < concurrency &&
            finished.length < batchesAhead * batchSize &&
            failure === null &&
            !hasLeft
          ) {
            const jobs = source.next(concurrency - underWay);
            if (jobs.length === 0) return;
            underWay += jobs.length;
            for (const job of jobs) void carryOutOne(job);
          }
        } catch (error) {
          failure ??= { error };
        }
      };

      try {
        for (;;) {
          pull();
          while (underWay > 0 && !(finished.length > 0 && isReady())) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
          if (finished.length === 0) break;
          clearTimeout(lingering);
          lingering = undefined;
          hasLingered = false;
          yield finished.splice(0, batchSize);
        }
      } finally {
        hasLeft = true;
        clearTimeout(lingering);
      }
      if (failure !== null) throw (failure as { readonly error: unknown }).error;
    },
  };
}
