import { setTimeout as delay } from "node:timers/promises";

export const dayMillis = 86_400_000;

/** Epoch milliseconds as ISO 8601, UTC. */
export function toIso(millis: number): string {
  return new Date(millis).toISOString();
}

/** Time and chance, injected so that tests control both. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Rejects with the signal's reason when that is aborted. */
  sleep(millis: number, signal: AbortSignal | undefined): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

/** Far enough from the year 10000, whose times are texts of another form, also for times that are computed from it. */
const lastMillis = Date.UTC(9000, 0);

export const systemClock: Clock = {
  // A clock that is wrong by millennia must not make a mirror that cannot be read.
  now: () => Math.min(Math.max(Date.now(), 0), lastMillis),
  random: Math.random,
  async sleep(millis, signal) {
    try {
      await delay(millis, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};
