import type { Redis } from "ioredis";
import { scanOtherQueues } from "../entries/scan-keys.ts";
import type { Principal } from "../queue-names.ts";
import { openQueue } from "../queues.ts";

/**
 * Whether workers of this principal have another credential: theirs is another queue, so they never get its requests.
 */
export async function hasMismatchedWorkers(client: Redis, principal: Principal): Promise<boolean> {
  for await (const queue of scanOtherQueues(client, principal)) {
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
