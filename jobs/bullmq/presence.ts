/** That a coordinator is there: a key that lapses unless it is renewed. Nothing is sent for one that is gone. */
import type { Redis } from "ioredis";
import { keyPrefix } from "./redis.ts";

const lapsesMillis = 10_000;
const renewMillis = 2_500;
/** How long what was last seen is taken for true. */
const believedMillis = 1_000;

const keyOf = (coordinator: string): string => `${keyPrefix}:coordinator:${coordinator}`;

/** @returns ends it */
export async function bePresent(client: Redis, coordinator: string): Promise<() => Promise<void>> {
  const renew = () => client.set(keyOf(coordinator), "1", "PX", lapsesMillis);
  await renew();
  let isWaiting = false;
  const timer = setInterval(() => {
    // While Redis is away, one renewal waits for it, not one for each time.
    if (isWaiting) return;
    isWaiting = true;
    void renew()
      .catch(() => {})
      .finally(() => {
        isWaiting = false;
      });
  }, renewMillis).unref();
  return async () => {
    clearInterval(timer);
    if (client.status === "ready") await client.del(keyOf(coordinator));
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
    const isThere = client.exists(keyOf(coordinator)).then((count) => count === 1);
    seen.set(coordinator, { at: now, isThere });
    return isThere;
  };
}
