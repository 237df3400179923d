/** The key that requests for private data need. Keys are compared in constant time, and the response to a wrong one is delayed. */
import { hash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";

export interface AccessKey {
  matches(given: string): boolean;
  /** To be awaited before a wrong key is answered. */
  pause(): Promise<void>;
}

const pauseMillis = 1000;

export function createAccessKey(key: string, clock: Pick<Clock, "sleep">): AccessKey {
  // Digests have the same length, which the comparison needs.
  const digestOf = (text: string) => hash("sha256", text, "buffer");
  const digest = digestOf(key);
  return {
    matches: (given) => timingSafeEqual(digestOf(given), digest),
    pause: () => clock.sleep(pauseMillis, undefined),
  };
}
