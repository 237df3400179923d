import type { ExecuteJob } from "../../../jobs/fetch-job.ts";
import type { Clock } from "../../platform/clock.ts";

/** Shorter pauses are added up, since timers are no finer. */
const minPauseMillis = 10;
const maxPauseMillis = 5_000;

/** Checks in a lane follow each other, with pauses. */
interface Lane {
  owedMillis: number;
}

/**
 * Sends at most `concurrency` conditional requests at a time, in their order. After each, its place is left empty for as
 * long as it took: checks cost the service work and rarely find a change. So it is busy with them at most half of the time.
 * Unconditional requests are not delayed.
 */
export function throttleConditionalRequests(
  execute: ExecuteJob,
  clock: Clock,
  concurrency: number,
): ExecuteJob {
  const free = Array.from({ length: concurrency }, (): Lane => ({ owedMillis: 0 }));
  const waiting: ((lane: Lane) => void)[] = [];

  const takeLane = (): Promise<Lane> => {
    const lane = free.shift();
    return lane === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(lane);
  };
  const giveBack = (lane: Lane): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(lane);
    else next(lane);
  };
  const pause = async (lane: Lane, signal: AbortSignal) => {
    if (lane.owedMillis < minPauseMillis) return;
    const millis = Math.min(lane.owedMillis, maxPauseMillis);
    lane.owedMillis = 0;
    // A cancelled job reports that itself.
    await clock.sleep(millis, signal).catch(() => {});
  };

  return async (job, signal) => {
    if (job.etag === null) return await execute(job, signal);
    const lane = await takeLane();
    try {
      await pause(lane, signal);
      const startedAt = performance.now();
      try {
        return await execute(job, signal);
      } finally {
        lane.owedMillis += performance.now() - startedAt;
      }
    } finally {
      giveBack(lane);
    }
  };
}
