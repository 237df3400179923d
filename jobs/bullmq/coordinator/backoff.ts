/** While all workers back off, cancels a coordinator's waiting requests, so that its run ends instead of waiting too. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Clock } from "../../../src/platform/clock.ts";
import { readBackoffUntil } from "../../../src/service/requests/headers.ts";
import { defaultRetryPolicy } from "../../../src/service/requests/retry-policy.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import { removeIfWaiting } from "./cancel-jobs.ts";
import type { PendingRequests } from "./pending-requests.ts";

export interface Backoff {
  /** Applies the time that a response gives. */
  applyResponse(response: RawResponse): void;
  /** Applies the pause of the queue, which a response to another run may have started. */
  applyQueuePause(): Promise<void>;
}

export function createBackoff(
  client: Redis,
  queue: Queue,
  pending: PendingRequests,
  clock: Pick<Clock, "now">,
): Backoff {
  const cancelWaiting = async (until: number): Promise<void> => {
    if (until - clock.now() <= defaultRetryPolicy.maxRetryAfterMillis) return;
    for (const jobId of pending.jobIds) {
      if (await removeIfWaiting(client, queue, jobId))
        pending.failJob(jobId, "paused", "not requested, because the allowance is spent", until);
    }
  };
  return {
    applyResponse({ head }) {
      const until = head && readBackoffUntil(head, clock.now());
      if (until !== null) void cancelWaiting(until);
    },
    applyQueuePause: async () => await cancelWaiting(clock.now() + (await queue.getRateLimitTtl(1))),
  };
}
