/** Taking back what nobody has begun. Where Redis is away, nothing is there that could be taken back, nor told apart. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { within } from "./within.ts";

/**
 * BullMQ's own removal says the same of a job that is done, and of one that a lost worker had begun, as of one that nobody has
 * begun. Workers delay only what they leave to others, unsent, until it waits again; what a lost worker had begun has `defa`.
 */
const takeIfUnsent = `
  local id = ARGV[1]
  if redis.call("HEXISTS", KEYS[1], "defa") == 1 then return 0 end
  local waiting = redis.call("ZREM", KEYS[2], id) + redis.call("LREM", KEYS[3], 1, id) + redis.call("LREM", KEYS[4], 1, id)
  return waiting > 0 and redis.call("DEL", KEYS[1]) or 0`;

/** Whether, as far as Redis has kept all, none of the job's requests was sent, and now none will be. */
export async function takeBack(client: Redis, queue: Queue, id: string): Promise<boolean> {
  const keys = [id, "delayed", "wait", "paused"].map((key) => queue.toKey(key));
  return await client.eval(takeIfUnsent, keys.length, ...keys, id).then(
    (taken) => taken === 1,
    () => false,
  );
}

const patienceMillis = 1000;

/**
 * For one request of a job, of which the others are not wanted any more either.
 * @returns whether it was surely not sent; null is a job that was not made yet
 */
export function withdrawer(client: Redis, queue: Queue): (job: string | null) => Promise<boolean> {
  const takenBack = new Map<string, Promise<boolean>>();
  return async (job) => {
    if (job === null) return true;
    if (client.status !== "ready") return false;
    const isTakenBack = takenBack.get(job) ?? takeBack(client, queue, job);
    takenBack.set(job, isTakenBack);
    return (await within(patienceMillis, () => isTakenBack)) ?? false;
  };
}
