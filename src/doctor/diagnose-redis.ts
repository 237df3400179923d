/** Whether the Redis that workers are at will do, and what it holds. */
import { type Diagnosis, diagnoseError } from "./diagnose.ts";
import type { Searched } from "./find-secrets.ts";

export interface RedisDiagnosis {
  readonly diagnosis: Diagnosis;
  /** What there is to search for secrets; null where Redis cannot be read. */
  readonly stored: AsyncIterable<Searched> | null;
  end(): void;
}

/** @param address `redis:`, `rediss:`, or the path of a socket */
export async function diagnoseRedis(address: string): Promise<RedisDiagnosis> {
  // Loaded where there is one.
  const [{ connectRedis }, { scanKeys: readStored }] = await Promise.all([
    import("../../jobs/bullmq/redis.ts"),
    import("../../jobs/bullmq/scan-keys.ts"),
  ]);
  try {
    const { client, shownAs, end } = await connectRedis(address);
    const diagnosis = { isWell: true, what: `The Redis at ${shownAs} takes jobs`, hint: null };
    const stored = async function* () {
      for await (const { name, pieces } of readStored(client))
        yield { name: `${name} in ${shownAs}`, pieces };
    };
    return { diagnosis, stored: stored(), end };
  } catch (error) {
    return { diagnosis: diagnoseError(error), stored: null, end: () => {} };
  }
}
