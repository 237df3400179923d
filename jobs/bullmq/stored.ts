/** Everything of ours that a Redis holds, as bytes: for a search. It reads only. */
import type { Redis } from "ioredis";
import { readAnswers } from "./payloads.ts";
import { keyPrefix } from "./redis.ts";

export interface StoredKey {
  readonly name: string;
  /** Its values, and what they carry in another form. */
  readonly pieces: readonly Buffer[];
}

const lookedAtTogether = 256;

export async function* readStored(client: Redis): AsyncGenerator<StoredKey> {
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
    const read = readAnswers(JSON.parse(value.toString()));
    if ("problem" in read) return [];
    return read.answers.flatMap((answer) =>
      answer.end === "answered" ? [Buffer.from(answer.wire, "base64")] : [],
    );
  } catch {
    return [];
  }
}
