/** Reads what Armoire has stored in a Redis: the names of keys, and their values as bytes. */
import type { Redis } from "ioredis";
import { readResponses } from "../protocol.ts";
import { fetchQueueName, isFetchQueueOf, keyPrefix, type Principal, queueOfKey } from "../queue-names.ts";

const keysPerScan = 1000;

/**
 * The names of our keys, each once.
 * @param options `namePattern` after our prefix, a glob; `type` as Redis names it
 */
export async function* scanKeyNames(
  client: Redis,
  { namePattern = "*", type }: { readonly namePattern?: string; readonly type?: "hash" } = {},
): AsyncGenerator<string> {
  const match = `${keyPrefix}:${namePattern}`;
  const scan = { match, count: keysPerScan, ...(type !== undefined && { type }) };
  // SCAN may return a key more than once.
  const seen = new Set<string>();
  for await (const names of client.scanStream(scan)) {
    for (const name of names as string[]) {
      if (seen.has(name)) continue;
      seen.add(name);
      yield name;
    }
  }
}

/** The other queues of requests of a principal: for workers with another credential or version. */
export async function* scanOtherQueues(client: Redis, principal: Principal): AsyncGenerator<string> {
  const ownQueue = fetchQueueName(principal);
  for await (const key of scanKeyNames(client, { namePattern: "fetch-*", type: "hash" })) {
    const queue = queueOfKey(key);
    if (queue !== null && queue !== ownQueue && isFetchQueueOf(principal, queue)) yield queue;
  }
}

export interface ScannedKey {
  readonly name: string;
  /** Its values, and response bodies decoded from base64. */
  readonly pieces: readonly Buffer[];
}

/** All our keys with their values, for a search. */
export async function* scanKeys(client: Redis): AsyncGenerator<ScannedKey> {
  for await (const name of scanKeyNames(client)) {
    const values = await readValues(client, name);
    yield {
      name,
      pieces: [...values, ...values.flatMap(decodeBodies)].flatMap((value) => [value, separator]),
    };
  }
}

/** Prevents a match across two values. */
const separator = Buffer.from("\0");

async function readValues(client: Redis, name: string): Promise<Buffer[]> {
  switch (await client.type(name)) {
    case "string":
      return [(await client.getBuffer(name)) ?? separator];
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

function decodeBodies(value: Buffer): Buffer[] {
  if (!value.includes('"responses"')) return [];
  try {
    const read = readResponses(JSON.parse(value.toString()));
    if ("problem" in read) return [];
    return read.responses.flatMap((response) =>
      response.outcome === "response" ? [Buffer.from(response.wire, "base64")] : [],
    );
  } catch {
    return [];
  }
}
