/** A clock that advances to the next wake-up time once all code waits. */
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../../src/platform/clock.ts";

export interface VirtualClock extends Pick<Clock, "now" | "sleep"> {
  /** Advances to a moment, and wakes all sleepers until then. @param moment epoch milliseconds */
  advanceTo(moment: number): Promise<void>;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export function virtualClock(start: number): VirtualClock {
  let now = start;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => now,
    sleep(millis, signal) {
      return new Promise((resolve, reject) => {
        const sleeper = { at: now + millis, wake: resolve };
        if (signal?.aborted) return reject(signal.reason);
        sleepers.add(sleeper);
        signal?.addEventListener(
          "abort",
          () => {
            sleepers.delete(sleeper);
            reject(signal.reason);
          },
          { once: true },
        );
      });
    },
    async advanceTo(moment) {
      for (;;) {
        // Pending promise callbacks run first; they may sleep again.
        await turn();
        const next = [...sleepers].reduce<Sleeper | null>(
          (first, sleeper) => (first === null || sleeper.at < first.at ? sleeper : first),
          null,
        );
        if (next === null || next.at > moment) break;
        sleepers.delete(next);
        now = Math.max(now, next.at);
        next.wake();
      }
      now = moment;
    },
  };
}
