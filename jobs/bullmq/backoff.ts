/** What a coordinator does while all workers wait: what nobody has begun would else wait for as long, and the run with it. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Clock } from "../../src/platform/clock.ts";
import { defaultRetryPolicy } from "../../src/service/requests/retry-policy.ts";
import { readPause } from "../../src/service/responses/headers.ts";
import type { Exchanged } from "../../src/service/transport/send-request.ts";
import type { UnderWay } from "./coordinator/pending-requests.ts";
import { takeBack } from "./coordinator/request-queue.ts";

export interface HoldBack {
  /** Where an answer says for how long. */
  heedAnswer(exchanged: Exchanged): void;
  /** A pause that the answer to somebody else began is as long for this run. */
  heedQueue(): Promise<void>;
}

export function holdBack(
  client: Redis,
  queue: Queue,
  underWay: UnderWay,
  clock: Pick<Clock, "now">,
): HoldBack {
  const holdUntil = async (until: number): Promise<void> => {
    if (until - clock.now() <= defaultRetryPolicy.maxRetryAfterMillis) return;
    for (const job of underWay.jobs) {
      if (await takeBack(client, queue, job))
        underWay.failJob(job, "held-back", "not asked, because the allowance is spent", until);
    }
  };
  return {
    heedAnswer({ head }) {
      const until = head && readPause(head, clock.now());
      if (until !== null) void holdUntil(until);
    },
    heedQueue: async () => await holdUntil(clock.now() + (await queue.getRateLimitTtl(1))),
  };
}
