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

export const systemClock: Clock = {
  now: Date.now,
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
