import type { Redis } from "ioredis";
import { fetchQueueName, isFetchQueueOf, type Principal, queueOfKey } from "../queue-names.ts";
import { openQueue } from "../queues.ts";
import { scanKeyNames } from "../scan-keys.ts";

/**
 * Whether workers of this principal have another credential: theirs is another queue, so they never get its requests.
 */
export async function hasMismatchedWorkers(client: Redis, principal: Principal): Promise<boolean> {
  const ownQueue = fetchQueueName(principal);
  for await (const key of scanKeyNames(client, { namePattern: "fetch-*", type: "hash" })) {
    const queue = queueOfKey(key);
    if (queue === null || queue === ownQueue || !isFetchQueueOf(principal, queue)) continue;
    if ((await countWorkers(client, queue)) > 0) return true;
  }
  return false;
}

async function countWorkers(client: Redis, name: string): Promise<number> {
  const queue = openQueue(client, name, { skipMetasUpdate: true });
  try {
    return await queue.getWorkersCount();
  } finally {
    await queue.close();
  }
}
