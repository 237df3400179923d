/**
 * Cancels jobs that no worker has started, and removes those that Redis has although their requests have ended. While Redis is
 * unreachable, nothing can be cancelled.
 */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { withTimeout } from "../async.ts";

/**
 * BullMQ's own removal does not tell apart a waiting job, a finished one, and one that a lost worker had started.
 * Here a job counts as unsent if it waits, or if a worker has postponed it unsent. A job that a lost worker had
 * started has `defa`.
 */
const removeIfUnsent = `
  local id = ARGV[1]
  if redis.call("HEXISTS", KEYS[1], "defa") == 1 then return 0 end
  local waiting = redis.call("ZREM", KEYS[2], id) + redis.call("LREM", KEYS[3], 1, id) + redis.call("LREM", KEYS[4], 1, id)
  return waiting > 0 and redis.call("DEL", KEYS[1]) or 0`;

/** @returns whether the job was removed before its request was sent, unless Redis has lost data */
export async function removeIfWaiting(client: Redis, queue: Queue, jobId: string): Promise<boolean> {
  const keys = [jobId, "delayed", "wait", "paused"].map((key) => queue.toKey(key));
  return await client.eval(removeIfUnsent, keys.length, ...keys, jobId).then(
    (removed) => removed === 1,
    () => false,
  );
}

const timeoutMillis = 1000;

/** @returns a function that cancels a job and returns true if it was certainly not sent; null is a job not queued yet */
export function createCanceller(client: Redis, queue: Queue): (jobId: string | null) => Promise<boolean> {
  return async (jobId) => {
    if (jobId === null) return true;
    if (client.status !== "ready") return false;
    return (await withTimeout(timeoutMillis, () => removeIfWaiting(client, queue, jobId))) ?? false;
  };
}

const removeAtAnyState = `
  local id = ARGV[1]
  redis.call("ZREM", KEYS[2], id)
  for n = 3, 5 do redis.call("LREM", KEYS[n], 0, id) end
  return redis.call("DEL", KEYS[1], KEYS[1] .. ":lock")`;

/** Removes the jobs of requests that have ended: a worker that has just taken one loses its lock, and sends nothing. */
export async function removeEndedJobs(
  client: Redis,
  queue: Queue,
  isEnded: (jobId: string) => boolean,
): Promise<void> {
  const jobIds = await queue.getRanges(["waiting", "active", "delayed"], 0, -1);
  for (const jobId of jobIds.filter(isEnded)) {
    const keys = [jobId, "delayed", "wait", "paused", "active"].map((key) => queue.toKey(key));
    await client.eval(removeAtAnyState, keys.length, ...keys, jobId);
  }
}
