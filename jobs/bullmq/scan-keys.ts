/** Everything of ours that a Redis holds, as bytes: for a search. It reads only. */

import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { readResponses } from "./protocol.ts";
import { fetchQueueName, isFetchQueueOf, type Principal } from "./queue-names.ts";
import { keyPrefix, queueOfKey } from "./redis.ts";

export interface ScannedKey {
  readonly name: string;
  /** Its values, and what they carry in another form. */
  readonly pieces: readonly Buffer[];
}

const lookedAtTogether = 256;

export async function* scanKeys(client: Redis): AsyncGenerator<ScannedKey> {
  for await (const names of client.scanStream({ match: `${keyPrefix}:*`, count: lookedAtTogether })) {
    for (const name of new Set(names as string[])) {
      const values = await readValues(client, name);
      yield { name, pieces: [...values, ...values.flatMap(carriedIn)].flatMap((value) => [value, gap]) };
    }
  }
}

/** Between two values, so that none seems to go on in the next. */
const gap = Buffer.from("\0");

async function readValues(client: Redis, name: string): Promise<Buffer[]> {
  switch (await client.type(name)) {
    case "string":
      return [(await client.getBuffer(name)) ?? gap];
    case "hash":
      return Object.values(await client.hgetallBuffer(name));
    case "list":
      return await client.lrangeBuffer(name, 0, -1);
    case "set":
      return await client.smembersBuffer(name);
    case "zset":
      return await client.zrangeBuffer(name, 0, "-1");
    case "stream":
      return (await client.xrangeBuffer(name, "-", "+")).flatMap(([, fields]) => fields);
    default:
      return [];
  }
}

/** Bodies on their way stand there as base64. */
function carriedIn(value: Buffer): Buffer[] {
  if (!value.includes('"answers"')) return [];
  try {
    const read = readResponses(JSON.parse(value.toString()));
    if ("problem" in read) return [];
    return read.answers.flatMap((answer) =>
      answer.end === "answered" ? [Buffer.from(answer.wire, "base64")] : [],
    );
  } catch {
    return [];
  }
}

/** Workers of the same principal that have another credential: they are at another queue, and wait in vain. */

const keysAtATime = 1000;

export async function hasMismatchedWorkers(client: Redis, principal: Principal): Promise<boolean> {
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
