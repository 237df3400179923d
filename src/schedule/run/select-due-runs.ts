/**
 * What is to begin now. In: the schedules, what became of their last runs, which mirrors are busy, and the time. Out: at most
 * one run for each mirror. However many times were missed, a schedule is due once.
 */

import { timeAfter, timeUpTo } from "../cron-times.ts";
import type { Schedule } from "../schedule.ts";

/** What is known of the last run of a schedule. */
export interface LastRun {
  /** Epoch milliseconds of the time that it was begun for. */
  readonly due: number;
  /** Nobody saw its end: the scheduler or the machine died. */
  readonly isLost: boolean;
  /** It was itself begun for another that was lost. */
  readonly isRepeat: boolean;
}

export interface Candidate {
  readonly schedule: Schedule;
  readonly last: LastRun | null;
}

export interface DueRun {
  readonly schedule: Schedule;
  /** Epoch milliseconds: the latest of the times that it is begun for. */
  readonly due: number;
}

export interface Decision {
  readonly begin: readonly DueRun[];
  /** Epoch milliseconds of the next time of any of them; infinite where there is none. */
  readonly nextAt: number;
}

/** @param busy the mirrors that a run is under way of @param now epoch milliseconds */
export function selectDueRuns(
  candidates: readonly Candidate[],
  busy: ReadonlySet<string>,
  now: number,
): Decision {
  const due = candidates
    .flatMap(({ schedule, last }) => {
      const time = dueTime(schedule, last, now);
      return time === null ? [] : [{ schedule, due: time, since: lastTime(schedule, last) }];
    })
    // Who had no run for longest goes first, or one that comes due all the time would never let another begin.
    .sort((a, b) => a.since - b.since || (a.schedule.name < b.schedule.name ? -1 : 1));
  const taken = new Set(busy);
  const begin = due.filter(({ schedule: { mirror } }) => !taken.has(mirror) && taken.add(mirror));
  const next = candidates.map(({ schedule }) => timeAfter(schedule, now) ?? Number.POSITIVE_INFINITY);
  return {
    begin: begin.map(({ schedule, due }) => ({ schedule, due })),
    nextAt: Math.min(Number.POSITIVE_INFINITY, ...next),
  };
}

/** @returns the latest time that the schedule has not had a run for, epoch milliseconds; null where it had all of them */
export function dueTime(schedule: Schedule, last: LastRun | null, now: number): number | null {
  const first = timeAfter(schedule, lastTime(schedule, last));
  if (first !== null && first <= now) return timeUpTo(schedule, now) ?? first;
  // Once, so that what kills its scheduler does not do so for ever.
  return last?.isLost && !last.isRepeat ? last.due : null;
}

/** Until when nothing is owed. */
function lastTime({ addedAt }: Schedule, last: LastRun | null): number {
  return Math.max(Date.parse(addedAt), last?.due ?? 0);
}
