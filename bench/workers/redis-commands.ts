import type { Redis } from "ioredis";

/** The number of commands that Redis has executed since it started, also within scripts. */
export async function countCommands(client: Redis): Promise<number> {
  const stats = await client.info("commandstats");
  return [...stats.matchAll(/calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}
