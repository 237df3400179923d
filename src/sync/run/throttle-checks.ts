import type { ExecuteJob } from "../../../jobs/fetch-job.ts";
import type { Clock } from "../../platform/clock.ts";

/** Shorter pauses are added up, since timers are no finer. */
const minPauseMillis = 10;
const maxPauseMillis = 5_000;

/**
 * Sends conditional requests one at a time, with a pause as long as the last one took: they cost the service work and
 * rarely find a change. It is busy with them at most half of the time. Unconditional requests are not delayed.
 */
export function throttleConditionalRequests(execute: ExecuteJob, clock: Clock): ExecuteJob {
  let previous: Promise<unknown> = Promise.resolve();
  let owedMillis = 0;

  const pause = async (signal: AbortSignal) => {
    if (owedMillis < minPauseMillis) return;
    const millis = Math.min(owedMillis, maxPauseMillis);
    owedMillis = 0;
    // A cancelled job reports that itself.
    await clock.sleep(millis, signal).catch(() => {});
  };
  const executeThrottled: ExecuteJob = async (job, signal) => {
    await pause(signal);
    const startedAt = performance.now();
    try {
      return await execute(job, signal);
    } finally {
      owedMillis += performance.now() - startedAt;
    }
  };

  return (job, signal) => {
    if (job.etag === null) return execute(job, signal);
    const result = previous.then(() => executeThrottled(job, signal));
    previous = result.catch(() => {});
    return result;
  };
}
