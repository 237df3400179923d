/** Checks cost the service work and bring us nothing most of the time: they are polite, one at a time and never in a hurry. */
import type { ExecuteJob } from "../../../jobs/fetch-job.ts";
import type { Clock } from "../../platform/clock.ts";

/** Shorter pauses are put together, since timers are no finer. */
const leastPauseMillis = 10;
const mostPauseMillis = 5_000;

/**
 * Lets a job with a validator wait for the one before it and then for as long as that took, so that the service is busy
 * with our checks half of the time at most, however slow it is. Fetches of what is not held pass at once.
 */
export function throttleConditionalRequests(carryOut: ExecuteJob, clock: Clock): ExecuteJob {
  let turn: Promise<unknown> = Promise.resolve();
  let owedMillis = 0;

  const pause = async (signal: AbortSignal) => {
    if (owedMillis < leastPauseMillis) return;
    const millis = Math.min(owedMillis, mostPauseMillis);
    owedMillis = 0;
    // Cut short where the run is: the job itself then says that it was given up.
    await clock.sleep(millis, signal).catch(() => {});
  };
  const carryOutInTurn: ExecuteJob = async (job, signal) => {
    await pause(signal);
    const beganAt = performance.now();
    try {
      return await carryOut(job, signal);
    } finally {
      owedMillis += performance.now() - beganAt;
    }
  };

  return (job, signal) => {
    if (job.etag === null) return carryOut(job, signal);
    const answer = turn.then(() => carryOutInTurn(job, signal));
    turn = answer.catch(() => {});
    return answer;
  };
}
