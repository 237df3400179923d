/** The engine without a server: begins what is due from this process, which alone does so for its data directory. */
import { setMaxListeners } from "node:events";
import type { Clock } from "../../platform/clock.ts";
import { type Candidate, type DueRun, selectDueRuns } from "./select-due-runs.ts";

export interface LocalSchedulerOptions {
  /** The schedules as they are now, with what became of their last runs. */
  readonly candidates: () => readonly Candidate[];
  /** Begins a run, and resolves when it has ended; never rejects. */
  readonly begin: (run: DueRun) => Promise<void>;
  readonly clock: Pick<Clock, "now" | "sleep">;
  /** After which schedules that were added, and a clock that was set, are noticed. */
  readonly lookAgainMillis: number;
  readonly ending: AbortSignal;
}

/** Until `ending`, and until what is under way then has ended. */
export async function runLocally(options: LocalSchedulerOptions): Promise<void> {
  const { candidates, begin, clock, lookAgainMillis, ending } = options;
  const underWay = new Map<string, Promise<void>>();
  while (!ending.aborted) {
    const now = clock.now();
    const waking = new AbortController();
    const signal = AbortSignal.any([ending, waking.signal]);
    setMaxListeners(0, signal);
    const decision = selectDueRuns(candidates(), new Set(underWay.keys()), now);
    for (const run of decision.begin) {
      const { mirror } = run.schedule;
      underWay.set(
        mirror,
        begin(run).finally(() => underWay.delete(mirror)),
      );
    }
    // Whatever ends may have kept another one waiting.
    const ended = [...underWay.values()];
    const sleeping = clock
      .sleep(Math.max(0, Math.min(decision.nextAt - now, lookAgainMillis)), signal)
      .catch(() => {});
    await Promise.race([sleeping, ...ended]);
    waking.abort();
  }
  await Promise.all(underWay.values());
}
