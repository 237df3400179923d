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
  readonly jobs: () => ReadonlySet<string>;
  readonly onLost: (job: string) => void;
  /** @param isIdle whether nobody has begun any of it */
  readonly onLook: (workers: number, isIdle: boolean) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** @returns once the signal is aborted */
export async function watchForLost(options: WatchOptions): Promise<void> {
  const { queue, jobs, onLost, onLook, clock, signal } = options;
  let known: ReadonlySet<string> = new Set();
  let missing: ReadonlySet<string> = new Set();
  while (!signal.aborted) {
    try {
      const now = jobs();
      const old = [...now].filter((job) => known.has(job));
      const states = await Promise.all(old.map((job) => queue.getJobState(job)));
      const gone = old.filter((_, n) => !present.includes(states[n] ?? ""));
      // Answered meanwhile, perhaps: then there is nothing to lose.
      for (const job of gone) if (missing.has(job)) onLost(job);
      missing = new Set(gone);
      known = now;
      onLook(
        await queue.getWorkersCount(),
        states.length > 0 && states.every((state) => state === "waiting"),
      );
      await clock.sleep(pace.watchMillis, signal);
    } catch {
      // Redis is away, or this ends: what was seen before says nothing any more.
      known = new Set();
      missing = new Set();
    }
  }
}

const present = ["waiting", "delayed", "active", "prioritized"];
