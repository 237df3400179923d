/**
 * Resources that people want fetched again: they retried a job whose lease is used up. A worker notes the URL, and a
 * coordinator plans the resource once more, in its running sync or in the next one. It never sends without a new lease.
 */
import type { Redis } from "ioredis";
import { dayMillis } from "../../../src/platform/clock.ts";
import { withTimeout } from "../async.ts";
import { keyPrefix, responseQueueName } from "../queue-names.ts";

export interface RepeatRequests {
  /** The URLs. Empty within a second of the last call, and while Redis does not respond. */
  read(): Promise<readonly string[]>;
  /** To be called once they are due in the mirror. */
  remove(urls: readonly string[]): Promise<void>;
}

const lifetimeMillis = 30 * dayMillis;
const pauseMillis = 1_000;
const timeoutMillis = 500;

/** A mirror has one queue of responses. A set: however often a job is retried, its resource is planned once. */
const keyOf = (responseQueue: string): string => `${keyPrefix}:again:${responseQueue}`;

export async function addRepeatRequest(client: Redis, responseQueue: string, url: string): Promise<void> {
  const key = keyOf(responseQueue);
  await client.multi().sadd(key, url).pexpire(key, lifetimeMillis).exec();
}

/** @param mirrorKey identifies the mirror, without its path */
export function openRepeatRequests(client: Redis, mirrorKey: string): RepeatRequests {
  const key = keyOf(responseQueueName(mirrorKey));
  let nextReadAt = Number.NEGATIVE_INFINITY;
  return {
    async read() {
      const now = performance.now();
      if (now < nextReadAt || client.status !== "ready") return [];
      nextReadAt = now + pauseMillis;
      return (await withTimeout(timeoutMillis, () => client.smembers(key))) ?? [];
    },
    async remove(urls) {
      if (client.status !== "ready") return;
      await withTimeout(timeoutMillis, () => client.srem(key, ...urls));
    },
  };
}
