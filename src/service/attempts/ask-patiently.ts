import { isTransient, ServiceError } from "../service-error.ts";
import type { Ask } from "./attempt.ts";
import type { Circuit } from "./circuit.ts";
import { type FollowParts, follow } from "./follow.ts";
import { retryTransient } from "./retry-transient.ts";

/**
 * Asks, again where that may help, and not at all while too much has failed in a row.
 * @throws ServiceError
 */
export async function askPatiently<Fetched>(
  ask: Ask,
  parts: FollowParts<Fetched>,
  circuit: Circuit,
): Promise<Fetched> {
  const { policy, clock } = parts;
  circuit.passOrThrow(ask.url);
  try {
    const fetched = await follow(ask, parts).catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      return retryTransient(error, () => follow(ask, parts), { policy, clock, signal: ask.signal });
    });
    circuit.succeed();
    return fetched;
  } catch (error) {
    if (error instanceof ServiceError && error.next === "retry") circuit.fail();
    throw error;
  }
}
