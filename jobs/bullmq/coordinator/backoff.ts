/**
 * Pauses all workers of a queue while the service asks to wait. Only the coordinator does so: its clock is the one of the
 * ledger, and a worker's may be wrong. Waiting requests are cancelled, so that their run ends instead of waiting too.
 */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Clock } from "../../../src/platform/clock.ts";
import { mayConcernOneResource, readBackoffUntil } from "../../../src/service/requests/headers.ts";
import { defaultRetryPolicy } from "../../../src/service/requests/retry-policy.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import { withTimeout } from "../async.ts";
import { removeIfWaiting } from "./cancel-jobs.ts";
import type { PendingRequests } from "./pending-requests.ts";

export interface Backoff {
  /** Applies the time that the response for a URL gives. Resolves once the workers are paused, if they are to be. */
  applyResponse(url: string, response: RawResponse): Promise<void>;
  /** Applies the pause of the queue, which a response to another run may have started. */
  applyQueuePause(): Promise<void>;
}

/** BullMQ reads a pause only while a queue has a limit. This one limits nothing. */
const noLimit = { max: Number.MAX_SAFE_INTEGER - 1, duration: 1000 };

/** A response does not wait longer for an unreachable Redis. */
const maxPauseDelayMillis = 1_000;

export function createBackoff(
  client: Redis,
  queue: Queue,
  pending: PendingRequests,
  clock: Pick<Clock, "now">,
  onPause: (until: number) => void = () => {},
): Backoff {
  const cancelWaiting = async (until: number): Promise<void> => {
    if (until - clock.now() <= defaultRetryPolicy.maxRetryAfterMillis) return;
    for (const jobId of pending.jobIds) {
      if (await removeIfWaiting(client, queue, jobId))
        pending.failJob(jobId, "paused", "not requested, because the allowance is spent", until);
    }
  };
  const readPauseMillis = async (): Promise<number> => Math.max(0, await queue.getRateLimitTtl(noLimit.max));
  const setLimit = () => queue.setGlobalRateLimit(noLimit.max, noLimit.duration);
  const pause = async (until: number): Promise<void> => {
    const millis = until - clock.now();
    // A shorter pause must not replace a longer one.
    if (millis <= (await readPauseMillis())) return;
    await setLimit();
    await queue.rateLimit(millis);
    onPause(until);
  };
  const update = async (): Promise<number> => {
    const millis = await readPauseMillis();
    // Another coordinator may have removed the limit just when the pause began.
    if (millis > 0) await setLimit();
    else await queue.removeGlobalRateLimit();
    return millis;
  };
  /** The last resource that was refused with a long wait. Only if the next one is as well, the wait concerns all. */
  let refusedUrl: string | null = null;
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other, since each takes several commands. */
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = last.then(work, work);
    last = done;
    return done;
  };
  return {
    async applyResponse(url, { head }) {
      const until = head && readBackoffUntil(head, clock.now());
      if (head !== null && head.status < 400) refusedUrl = null;
      if (head === null || until === null || until <= clock.now()) return;
      if (mayConcernOneResource(head, clock.now())) {
        const isFirst = refusedUrl === null || refusedUrl === url;
        refusedUrl = url;
        if (isFirst) return;
      }
      // A full Redis cannot store the pause. The ledger gives no more leases even so.
      await withTimeout(maxPauseDelayMillis, () => inTurn(() => pause(until)));
      void cancelWaiting(until);
    },
    async applyQueuePause() {
      const millis = await inTurn(update);
      if (millis > 0) await cancelWaiting(clock.now() + millis);
    },
  };
}
