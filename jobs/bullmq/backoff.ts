/** What a coordinator does while all workers wait: what nobody has begun would else wait for as long, and the run with it. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Clock } from "../../src/platform/clock.ts";
import { readBackoffUntil } from "../../src/service/requests/headers.ts";
import { defaultRetryPolicy } from "../../src/service/requests/retry-policy.ts";
import type { RawResponse } from "../../src/service/transport/send-request.ts";
import type { PendingRequests } from "./coordinator/pending-requests.ts";
import { removeIfWaiting } from "./coordinator/request-queue.ts";

export interface BackoffSync {
  /** Where an answer says for how long. */
  heedAnswer(exchanged: RawResponse): void;
  /** A pause that the answer to somebody else began is as long for this run. */
  heedQueue(): Promise<void>;
}

export function syncBackoff(
  client: Redis,
  queue: Queue,
  underWay: PendingRequests,
  clock: Pick<Clock, "now">,
): BackoffSync {
  const holdUntil = async (until: number): Promise<void> => {
    if (until - clock.now() <= defaultRetryPolicy.maxRetryAfterMillis) return;
    for (const job of underWay.jobs) {
      if (await removeIfWaiting(client, queue, job))
        underWay.failJob(job, "paused", "not asked, because the allowance is spent", until);
    }
  };
  return {
    heedAnswer({ head }) {
      const until = head && readBackoffUntil(head, clock.now());
      if (until !== null) void holdUntil(until);
    },
    heedQueue: async () => await holdUntil(clock.now() + (await queue.getRateLimitTtl(1))),
  };
}
