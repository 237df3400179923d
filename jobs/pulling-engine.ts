/**
 * The engine that there is: a number of jobs under way at a time, pulled as others end, and results gathered into batches.
 * Whether a request is sent from this process or by a worker elsewhere is up to the sender that the door stands on.
 */
import type { Engine, JobSource } from "./engine.ts";
import type { CarryOut, FetchJob, JobResult } from "./fetch-job.ts";

export interface PullingEngineOptions {
  /** Fetches under way at a time. */
  readonly concurrency: number;
  /** Results handed over together at most: larger batches cost less, smaller ones lose less at a kill. */
  readonly batchSize?: number;
  /** How long a result may wait for others to share its transaction. */
  readonly lingerMillis?: number;
}

/** What may be finished while the caller is busy, so that neither waits for the other for long; a kill may cost as much. */
const batchesAhead = 3;

export function pullingEngine(carryOut: CarryOut, options: PullingEngineOptions): Engine {
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
