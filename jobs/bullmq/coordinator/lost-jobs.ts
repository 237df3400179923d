/**
 * Looks after what is under way. A job that Redis knows no more, though no answer came, is lost: its worker was killed or
 * froze, or Redis lost what it held. One look is not enough: an answer may be on its way between two queues.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Queue } from "bullmq";
import { timeouts } from "../timeouts.ts";

export interface Look {
  readonly workers: number;
  /** Whether there are jobs, and nobody has begun any of them: `unclaimed`; or all were left to others: `left`. */
  readonly jobs: "unclaimed" | "left" | "under-way";
}

export interface WatchOptions {
  readonly queue: Queue;
  /** Where answers come: while any waits there, nothing is taken for lost. */
  readonly answers: Queue;
  /** What is under way now. */
  readonly jobs: () => ReadonlySet<string>;
  readonly onLost: (job: string) => void;
  readonly onLook: (look: Look) => void;
  readonly signal: AbortSignal;
}

/** @returns once the signal is aborted */
export async function detectLostJobs(options: WatchOptions): Promise<void> {
  const { queue, answers, jobs, onLost, onLook, signal } = options;
  let known: ReadonlySet<string> = new Set();
  let missing: ReadonlySet<string> = new Set();
  while (!signal.aborted) {
    try {
      const now = jobs();
      const old = [...now].filter((job) => known.has(job));
      const states = await Promise.all(old.map((job) => queue.getJobState(job)));
      const gone = old.filter((_, n) => !present.includes(states[n] ?? ""));
      // Answered meanwhile, perhaps: then there is nothing to lose.
      const isHeard = gone.length === 0 || (await answers.count()) === 0;
      for (const job of gone) if (isHeard && missing.has(job)) onLost(job);
      missing = new Set(gone);
      known = now;
      const are = (state: string) => states.length > 0 && states.every((each) => each === state);
      const found = are("waiting") ? "unclaimed" : are("delayed") ? "left" : "under-way";
      onLook({ workers: await queue.getWorkersCount(), jobs: found });
      await delay(timeouts.watchMillis, undefined, { signal });
    } catch {
      // Redis is away, or this ends: what was seen before says nothing any more.
      known = new Set();
      missing = new Set();
      await delay(timeouts.watchMillis, undefined, { signal }).catch(() => {});
    }
  }
}

const present = ["waiting", "delayed", "active", "prioritized"];
