/** Workers of the same principal that have another credential: they are at another queue, and wait in vain. */
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { fetchQueueName, isFetchQueueOf, type Principal } from "./principal.ts";
import { keyPrefix } from "./redis.ts";

const [before, after] = [`${keyPrefix}:`, ":meta"] as const;

export async function areThereOthers(client: Redis, principal: Principal): Promise<boolean> {
  const own = fetchQueueName(principal);
  for await (const keys of client.scanStream({ match: `${before}fetch-*${after}` })) {
    for (const key of keys as string[]) {
      const name = key.slice(before.length, -after.length);
      if (name !== own && isFetchQueueOf(principal, name) && (await countWorkers(client, name)) > 0)
        return true;
    }
  }
  return false;
}

async function countWorkers(client: Redis, name: string): Promise<number> {
  // Whoever only looks leaves nothing behind.
  const queue = new Queue(name, { connection: client, prefix: keyPrefix, skipMetasUpdate: true });
  queue.on("error", () => {});
  const count = await queue.getWorkersCount();
  await queue.close();
  return count;
}
