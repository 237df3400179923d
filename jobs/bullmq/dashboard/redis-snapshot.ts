/** What of ours is in Redis: queues, and what coordinators told of themselves. It only reads. */
import type { Redis } from "ioredis";
import { cacheFor } from "../async.ts";
import { hasLiveRun } from "../heartbeat.ts";
import { keyPrefix, queueOfKey } from "../redis.ts";
import { stateKeyPrefix } from "../run-metrics.ts";

export interface RedisSnapshot {
  readonly queues: readonly string[];
  readonly coordinators: readonly CoordinatorSnapshot[];
}

export interface CoordinatorSnapshot {
  /** Names the mirror without saying where it is. */
  readonly mirror: string;
  /** Whether it is there now. */
  readonly isPresent: boolean;
  /** As it was written: `principal`, `queue`, `sent` and so on. */
  readonly fields: Readonly<Record<string, string>>;
}

/** For how long what was seen is taken for true: however many look, Redis is searched once. */
const believedMillis = 2000;
const keysAtATime = 1000;

export function watchRedis(client: Redis): () => Promise<RedisSnapshot> {
  return cacheFor(believedMillis, async () => {
    const keys = await ownHashes(client);
    const mirrors = keys.filter((key) => key.startsWith(stateKeyPrefix));
    return {
      queues: keys.flatMap((key) => queueOfKey(key) ?? []).sort(),
      coordinators: await Promise.all(
        mirrors.sort().map(async (key) => {
          const mirror = key.slice(stateKeyPrefix.length);
          return { mirror, isPresent: await hasLiveRun(client, mirror), fields: await client.hgetall(key) };
        }),
      ),
    };
  });
}

async function ownHashes(client: Redis): Promise<string[]> {
  const keys = new Set<string>();
  const some = { match: `${keyPrefix}:*`, count: keysAtATime, type: "hash" };
  for await (const found of client.scanStream(some)) for (const key of found as string[]) keys.add(key);
  return [...keys];
}
