/** A worker process: sends requests for the principals whose credentials it has, until it is told to end. */
import { systemClock } from "../../src/service/clock.ts";
import type { Exchanged } from "../../src/service/exchange.ts";
import { defaultLimits } from "../../src/service/limits.ts";
import { openSender, serviceHeaders } from "../../src/service/sender.ts";
import { startFetchWorker } from "./fetch-worker.ts";
import type { Principal } from "./principal.ts";
import { connectRedis } from "./redis.ts";

export interface RunWorkerOptions {
  /** The address of Redis: `redis:`, `rediss:`, or the path of a socket. */
  readonly redis: string;
  /** On whose behalf it sends. */
  readonly principals: readonly Principal[];
  /** Requests under way at a time, for each principal; 8 unless told. */
  readonly concurrency?: number;
  /** Ends it: what is under way is finished or handed back within ten seconds. */
  readonly signal: AbortSignal;
  /** Called once it takes requests. */
  readonly onReady?: () => void;
  /** Told what somebody may want to do something about. */
  readonly onRemark?: (text: string) => void;
  /** Told of each answer, and of each request that got none. */
  readonly onAnswer?: (principal: string, exchanged: Exchanged) => void;
}

/** @throws RedisError; ServiceSettingsError where a base URL cannot be used */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  const { principals, concurrency = 8, signal, onReady = () => {} } = options;
  const { onRemark = () => {}, onAnswer = () => {} } = options;
  const redis = await connectRedis(options.redis);
  const running = principals.map((principal) => {
    const { origin } = new URL(principal.baseUrl);
    const headers = serviceHeaders(principal.credential, "armoire");
    const sender = openSender(origin, headers, defaultLimits, { connections: concurrency });
    const worker = startFetchWorker({
      ...{ redis, principal, sender, concurrency, clock: systemClock, onRemark },
      onAnswer: (exchanged) => onAnswer(principal.name, exchanged),
    });
    return { sender, worker };
  });
  try {
    onReady();
    if (!signal.aborted) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    }
    await Promise.all(
      running.map(async ({ sender, worker }) => {
        await worker.close();
        await sender.close();
      }),
    );
  } finally {
    redis.end();
  }
}
