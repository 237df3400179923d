/**
 * Decides which runs start now. In: the schedules with their last runs, the busy mirrors, and the time. Out: at most
 * one run for each mirror. A schedule is due once, however many times it has missed. Pure.
 */
import { timeAfter, timeUpTo } from "../cron-times.ts";
import type { Schedule } from "../schedule.ts";

export interface LastRun {
  /** Epoch milliseconds of the due time that the run covers. */
  readonly due: number;
  /** Whether its scheduler or the machine died before it ended. */
  readonly isLost: boolean;
  /** Whether it repeated a lost run. */
  readonly isRepeat: boolean;
}

export interface Candidate {
  readonly schedule: Schedule;
  /** Null before the first run. */
  readonly lastRun: LastRun | null;
}

export interface DueRun {
  readonly schedule: Schedule;
  /** Epoch milliseconds: the latest due time that the run covers. */
  readonly due: number;
}

export interface Selection {
  readonly due: readonly DueRun[];
  /** Epoch milliseconds of the next due time of any schedule; infinite when there is none. */
  readonly nextAt: number;
}

/** @param busyMirrors mirrors with an active run @param now epoch milliseconds */
export function selectDueRuns(
  candidates: readonly Candidate[],
  busyMirrors: ReadonlySet<string>,
  now: number,
): Selection {
  const due = candidates
    .flatMap(({ schedule, lastRun }) => {
      const time = dueTime(schedule, lastRun, now);
      return time === null ? [] : [{ schedule, due: time, since: coveredUntil(schedule, lastRun) }];
    })
    // The longest wait goes first. Otherwise a schedule that is due all the time would block the others of its
    // mirror.
    .sort((a, b) => a.since - b.since || (a.schedule.name < b.schedule.name ? -1 : 1));
  const taken = new Set(busyMirrors);
  const selected = due.filter(({ schedule: { mirror } }) => !taken.has(mirror) && taken.add(mirror));
  const next = candidates.map(({ schedule }) => timeAfter(schedule, now) ?? Number.POSITIVE_INFINITY);
  return {
    due: selected.map(({ schedule, due }) => ({ schedule, due })),
    nextAt: Math.min(Number.POSITIVE_INFINITY, ...next),
  };
}

/** @returns epoch milliseconds of the latest due time without a run; null when there is none */
export function dueTime(schedule: Schedule, lastRun: LastRun | null, now: number): number | null {
  const first = timeAfter(schedule, coveredUntil(schedule, lastRun));
  if (first !== null && first <= now) return timeUpTo(schedule, now) ?? first;
  // A lost run is repeated once, in case it was the run that killed the scheduler.
  return lastRun?.isLost && !lastRun.isRepeat ? lastRun.due : null;
}

/** Due times up to here have had their run, or precede the schedule. */
function coveredUntil({ addedAt }: Schedule, lastRun: LastRun | null): number {
  return Math.max(Date.parse(addedAt), lastRun?.due ?? 0);
}
