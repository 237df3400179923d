/** That a coordinator is there: a key that lapses unless it is renewed. Nothing is sent for one that is gone. */
import type { Redis } from "ioredis";
import { keyPrefix } from "./redis.ts";

const lapsesMillis = 10_000;
const renewMillis = 2_500;
/** How long it is taken for true that one is there; that none is, never. */
const believedMillis = 1_000;

const keyOf = (coordinator: string): string => `${keyPrefix}:coordinator:${coordinator}`;

export interface Presence {
  /** Says so again, now: Redis may have lost it. */
  renew(): Promise<void>;
  end(): Promise<void>;
  /** Says no more, and takes nothing back: it lapses. */
  lapse(): void;
}

/** Where Redis cannot note it, nothing is sent until it can. */
export async function bePresent(client: Redis, coordinator: string): Promise<Presence> {
  let renewing: Promise<void> | null = null;
  // While Redis is away, one renewal waits for it, not one for each time.
  const renew = (): Promise<void> => {
    renewing ??= client
      .set(keyOf(coordinator), "1", "PX", lapsesMillis)
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        renewing = null;
      });
    return renewing;
  };
  await renew();
  const timer = setInterval(() => void renew(), renewMillis).unref();
  return {
    renew,
    lapse: () => clearInterval(timer),
    async end() {
      clearInterval(timer);
      await client.del(keyOf(coordinator));
    },
  };
}

/** @returns whether a coordinator is there, as seen within the last second */
export function watchPresence(client: Redis): (coordinator: string) => Promise<boolean> {
  const seen = new Map<string, { readonly at: number; readonly isThere: Promise<boolean> }>();
  return (coordinator) => {
    const now = performance.now();
    const last = seen.get(coordinator);
    if (last !== undefined && now - last.at < believedMillis) return last.isThere;
    for (const [other, { at }] of seen) if (now - at >= believedMillis) seen.delete(other);
    const isThere = client.exists(keyOf(coordinator)).then((count) => {
      if (count === 0) seen.delete(coordinator);
      return count === 1;
    });
    seen.set(coordinator, { at: now, isThere });
    return isThere;
  };
}
