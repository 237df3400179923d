/** Taking back what nobody has begun. Where Redis is away, nothing is there that could be taken back, nor told apart. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { within } from "./within.ts";

/** Whether the job was still waiting, and now is not. */
export async function takeBack(queue: Queue, id: string): Promise<boolean> {
  return await queue.remove(id).then(
    (removed) => removed === 1,
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
    const isTakenBack = takenBack.get(job) ?? takeBack(queue, job);
    takenBack.set(job, isTakenBack);
    let isSure = false;
    await within(patienceMillis, async () => {
      isSure = await isTakenBack;
    });
    return isSure;
  };
}
