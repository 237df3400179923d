/** Workers of the same principal that have another credential: they are at another queue, and wait in vain. */
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { fetchQueueName, isFetchQueueOf, type Principal } from "./principal.ts";
import { keyPrefix, queueOfKey } from "./redis.ts";

const keysAtATime = 1000;

export async function areThereOthers(client: Redis, principal: Principal): Promise<boolean> {
  const own = fetchQueueName(principal);
  const some = { match: `${keyPrefix}:fetch-*`, count: keysAtATime, type: "hash" };
  for await (const keys of client.scanStream(some)) {
    for (const key of keys as string[]) {
      const queue = queueOfKey(key);
      if (queue === null || queue === own || !isFetchQueueOf(principal, queue)) continue;
      if ((await countWorkers(client, queue)) > 0) return true;
    }
  }
  return false;
}

async function countWorkers(client: Redis, name: string): Promise<number> {
  // Whoever only looks leaves nothing behind.
  const queue = new Queue(name, { connection: client, prefix: keyPrefix, skipMetasUpdate: true });
  queue.on("error", () => {});
  try {
    return await queue.getWorkersCount();
  } finally {
    await queue.close();
  }
}
