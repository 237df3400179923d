import type { Redis } from "ioredis";
import { cacheFor, withTimeout } from "../async.ts";
import { readKeys } from "../entries/read-entries.ts";
import { scanKeyNames } from "../entries/scan-keys.ts";
import { hasLiveRun } from "../heartbeat.ts";
import { queueOfKey } from "../queue-names.ts";
import { stateKeyPrefix } from "../run-metrics.ts";

/** The queues in Redis, the metrics that coordinators have published, and the memory in use. */
export interface RedisSnapshot {
  readonly queues: readonly string[];
  readonly memory: RedisMemory;
  readonly coordinators: readonly CoordinatorSnapshot[];
  /** How many queues and coordinators were left out, since no program of Armoire has written them. */
  readonly unreadable: number;
}

export interface RedisMemory {
  readonly usedBytes: number;
  /** `maxmemory`; 0 for no limit. */
  readonly maxBytes: number;
}

export interface CoordinatorSnapshot {
  /** Identifies the mirror, without its path. */
  readonly mirrorKey: string;
  /** Whether a run is alive now. */
  readonly isAlive: boolean;
  /** As published: `principal`, `queue`, `sent` and so on. */
  readonly fields: Readonly<Record<string, string>>;
}

/** A Redis that does not respond in this time is reported as unreachable. */
export const redisTimeoutMillis = 2000;

/** All open pages share one scan of Redis in this time. */
const cacheMillis = 2000;

/** Of a thousand accounts. */
const maxQueues = 4000;

/** @returns a function that takes a snapshot; read-only */
export function createSnapshotReader(client: Redis): () => Promise<RedisSnapshot> {
  return cacheFor(cacheMillis, async () => {
    const keys: string[] = [];
    for await (const key of scanKeyNames(client, { type: "hash" })) keys.push(key);
    const stateKeys = keys.filter((key) => key.startsWith(stateKeyPrefix)).sort();
    const coordinators = await readKeys(client, stateKeys, async (key) => {
      const mirrorKey = key.slice(stateKeyPrefix.length);
      const isAlive = await hasLiveRun(client, mirrorKey);
      return { mirrorKey, isAlive, fields: await client.hgetall(key) };
    });
    const queues = keys.flatMap((key) => queueOfKey(key) ?? []).sort();
    return {
      queues: queues.slice(0, maxQueues),
      memory: await readMemory(client),
      coordinators: coordinators.entries,
      unreadable: coordinators.unreadable + Math.max(0, queues.length - maxQueues),
    };
  });
}

export async function readMemory(client: Redis): Promise<RedisMemory> {
  const info = await client.info("memory");
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
  return { usedBytes: read("used_memory"), maxBytes: read("maxmemory") };
}

/** At most one ping is pending, so that a frozen Redis does not collect them. */
export function createPing(client: Redis): () => Promise<boolean> {
  let pending: Promise<true> | null = null;
  const ping = (): Promise<true> => {
    pending ??= client
      .ping()
      .then(() => true as const)
      .finally(() => {
        pending = null;
      });
    return pending;
  };
  return async () => client.status === "ready" && ((await withTimeout(redisTimeoutMillis, ping)) ?? false);
}
