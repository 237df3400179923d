/** Starts due runs from this process, which is the only scheduler of its data directory. */
import { setMaxListeners } from "node:events";
import type { Clock } from "../../platform/clock.ts";
import { type Candidate, type DueRun, selectDueRuns } from "./select-due-runs.ts";

export interface LocalSchedulerOptions {
  /** The current schedules, with their last runs. */
  readonly candidates: () => readonly Candidate[];
  /** Resolves when the run has ended; never rejects. */
  readonly execute: (run: DueRun) => Promise<unknown>;
  readonly clock: Pick<Clock, "now" | "sleep">;
  /** How soon a new schedule or a changed clock is noticed. */
  readonly pollMillis: number;
  readonly signal: AbortSignal;
}

/** Resolves once `signal` is aborted and all active runs have ended. */
export async function runLocally(options: LocalSchedulerOptions): Promise<void> {
  const { candidates, execute, clock, pollMillis, signal } = options;
  const activeRuns = new Map<string, Promise<unknown>>();
  while (!signal.aborted) {
    const now = clock.now();
    const woken = new AbortController();
    const wakeSignal = AbortSignal.any([signal, woken.signal]);
    setMaxListeners(0, wakeSignal);
    const selection = selectDueRuns(candidates(), new Set(activeRuns.keys()), now);
    for (const run of selection.due) {
      const { mirror } = run.schedule;
      activeRuns.set(
        mirror,
        execute(run).finally(() => activeRuns.delete(mirror)),
      );
    }
    const sleepMillis = Math.max(0, Math.min(selection.nextAt - now, pollMillis));
    const sleeping = clock.sleep(sleepMillis, wakeSignal).catch(() => {});
    // The end of a run frees its mirror for the next one.
    await Promise.race([sleeping, ...activeRuns.values()]);
    woken.abort();
  }
  await Promise.all(activeRuns.values());
}
