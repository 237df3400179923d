/**
 * Looks after what is under way. A job that Redis knows no more, though no answer came, is lost: its worker was killed or
 * froze, or Redis lost what it held. One look is not enough: an answer may be on its way between two queues.
 */
import type { Queue } from "bullmq";
import type { Clock } from "../../src/service/clock.ts";
import { pace } from "./pace.ts";

export interface WatchOptions {
  readonly queue: Queue;
  /** What is under way now. */
  readonly ids: () => Iterable<string>;
  readonly onLost: (id: string) => void;
  readonly onIdle: (workers: number) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** @returns once the signal is aborted */
export async function watchForLost({ queue, ids, onLost, onIdle, clock, signal }: WatchOptions): Promise<void> {
  let known = new Set<string>();
  let missing = new Set<string>();
  while (!signal.aborted) {
    try {
      await clock.sleep(pace.watchMillis, signal);
      const now = [...ids()];
      const states = new Map(
        await Promise.all(
          now
            .filter((id) => known.has(id))
            .map(async (id) => [id, await queue.getJobState(id)] as const),
        ),
      );
      const isGone = (id: string) => !["waiting", "delayed", "active", "prioritized"].includes(states.get(id) ?? "");
      const gone = [...states.keys()].filter(isGone);
      for (const id of gone) if (missing.has(id)) onLost(id);
      missing = new Set(gone);
      known = new Set(now);
      if (states.size > 0 && [...states.values()].every((state) => state === "waiting")) {
        onIdle(await queue.getWorkersCount());
      }
    } catch {
      // Redis is away, or this ends: what was seen before says nothing any more.
      known = new Set();
      missing = new Set();
    }
  }
}
