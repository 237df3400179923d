/**
 * The contract of an engine, which executes fetch jobs. In: a source, from which it pulls jobs as capacity frees up.
 * Out: batches of results, in any order. It never opens the mirror and does not decide what is fetched next.
 *
 * Every engine guarantees (`test/jobs/support/engine-conformance.ts`):
 * - one result for each job of the source, unless the process dies;
 * - the source is pulled again after every batch that the caller has taken, since ingesting may make more due;
 * - it ends when the source returns nothing, no job is running and every result was taken.
 *
 * There is one implementation. The client's transport decides whether this process or a worker sends the requests.
 */
import type { ExecuteJob, FetchJob, JobResult } from "./fetch-job.ts";

export interface JobSource {
  /** At most `limit` jobs that were not returned before. An empty array means "nothing now", not "nothing ever". */
  next(limit: number): readonly FetchJob[];
}

export interface Engine {
  /** @param signal cancels running jobs; their results say so */
  run(source: JobSource, signal: AbortSignal): AsyncIterable<readonly JobResult[]>;
}

export interface EngineOptions {
  /** Jobs running at a time. */
  readonly concurrency: number;
  /** At most so many results in a batch: larger batches cost less, smaller ones lose less at a kill. Default: 256. */
  readonly batchSize?: number;
  /** How long a result may wait for others to share its batch. Default: 50. */
  readonly lingerMillis?: number;
}

/**
 * Batches that may be finished while the caller is busy. Neither waits long for the other; a kill may lose as many.
 */
const batchesAhead = 3;

/** Runs up to `concurrency` jobs and yields their results in batches. */
export function createEngine(execute: ExecuteJob, options: EngineOptions): Engine {
  const { concurrency, batchSize = 256, lingerMillis = 50 } = options;
  return {
    async *run(source: JobSource, signal: AbortSignal) {
      const finished: JobResult[] = [];
      let running = 0;
      let hasLingered = false;
      let hasEnded = false;
      let failure: { readonly error: unknown } | null = null;
      let lingering: NodeJS.Timeout | undefined;
      let wake: () => void = () => {};

      // With capacity left, a batch is taken at once: ingesting it may make more jobs due.
      const isReady = () => finished.length >= batchSize || hasLingered || running < concurrency;
      const finish = (result: JobResult) => {
        finished.push(result);
        lingering ??= setTimeout(() => {
          hasLingered = true;
          wake();
        }, lingerMillis);
      };
      const executeOne = async (job: FetchJob) => {
        try {
          finish(await execute(job, signal));
        } catch (error) {
          failure ??= { error };
        }
        running--;
        pull();
        if (isReady()) wake();
      };
      const pull = () => {
        try {
          while (
            running < concurrency &&
            finished.length < batchesAhead * batchSize &&
            failure === null &&
            !hasEnded
          ) {
            const jobs = source.next(concurrency - running);
            if (jobs.length === 0) return;
            running += jobs.length;
            for (const job of jobs) void executeOne(job);
          }
        } catch (error) {
          failure ??= { error };
        }
      };

      try {
        for (;;) {
          pull();
          while (running > 0 && !(finished.length > 0 && isReady())) {
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
        hasEnded = true;
        clearTimeout(lingering);
      }
      if (failure !== null) throw (failure as { readonly error: unknown }).error;
    },
  };
}
