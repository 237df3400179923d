/** Whether the Redis server of the workers is usable, and what Armoire stores in it. */
import { type Diagnosis, diagnoseError } from "./diagnose.ts";
import type { SearchedItem } from "./find-secrets.ts";

export interface RedisDiagnosis {
  readonly diagnosis: Diagnosis;
  /** Armoire's keys with their values; null if Redis cannot be read. */
  readonly stored: AsyncIterable<SearchedItem> | null;
  end(): void;
}

/** @param address `redis:`, `rediss:`, or the path of a socket */
export async function diagnoseRedis(address: string): Promise<RedisDiagnosis> {
  // Loaded only here: most set-ups have no Redis.
  const [{ connectRedis }, { scanKeys }] = await Promise.all([
    import("../../jobs/bullmq/redis.ts"),
    import("../../jobs/bullmq/entries/scan-keys.ts"),
  ]);
  try {
    const { client, shownAs, end } = await connectRedis(address);
    const diagnosis = { isOk: true, message: `The Redis at ${shownAs} accepts jobs`, hint: null };
    const stored = async function* () {
      for await (const { name, pieces } of scanKeys(client)) yield { name: `${name} in ${shownAs}`, pieces };
    };
    return { diagnosis, stored: stored(), end };
  } catch (error) {
    return { diagnosis: diagnoseError(error), stored: null, end: () => {} };
  }
}
