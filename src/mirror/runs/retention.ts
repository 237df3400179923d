/**
 * Which runs a mirror goes on remembering. In: the runs that can be shown, and rules. Out: each run that is kept, with why,
 * and those that are not. Days, weeks (from Monday, numbered as in ISO 8601), months and years are those of UTC.
 */
import { dayMillis } from "../../platform/clock.ts";
import type { EndedRun } from "../points/resolve-point.ts";

export const retentionRules = ["last", "daily", "weekly", "monthly", "yearly"] as const;

export type RetentionRule = (typeof retentionRules)[number];

/** For how many of the newest runs, or of the newest periods that have one, a run is kept. */
export type RetentionPolicy = Readonly<Partial<Record<RetentionRule, number>>>;

export interface KeptRun extends EndedRun {
  /** `latest`, `last`, or a rule and the period of which it is the last run, such as `weekly 2026-W03`. */
  readonly reasons: readonly string[];
}

/** Both with the newest first. */
export interface RetentionChoice {
  readonly keep: readonly KeptRun[];
  readonly forget: readonly EndedRun[];
}

/**
 * Keeps what any rule keeps, and the latest run in any case; without a rule all of them. Newer is what has a higher number,
 * as for points, whatever the clock said.
 */
export function chooseRuns(runs: readonly EndedRun[], policy: RetentionPolicy): RetentionChoice {
  const newestFirst = runs.toSorted((one, other) => other.run - one.run);
  const reasons = new Map<number, string[]>(newestFirst.slice(0, 1).map(({ run }) => [run, ["latest"]]));
  const rules = retentionRules.filter((rule) => policy[rule] !== undefined);
  for (const rule of rules) {
    for (const { run, reason } of keptBy(rule, newestFirst).slice(0, policy[rule]))
      reasons.set(run, [...(reasons.get(run) ?? []), reason]);
  }
  const isKept = ({ run }: EndedRun) => rules.length === 0 || reasons.has(run);
  return {
    keep: newestFirst.filter(isKept).map((run) => ({ ...run, reasons: reasons.get(run.run) ?? [] })),
    forget: newestFirst.filter((run) => !isKept(run)),
  };
}

/** What a rule without a limit keeps, in the order in which a limit counts. */
function keptBy(rule: RetentionRule, newestFirst: readonly EndedRun[]): { run: number; reason: string }[] {
  if (rule === "last") return newestFirst.map(({ run }) => ({ run, reason: rule }));
  const lastOf = new Map<string, number>();
  for (const { run, endedAt } of newestFirst) {
    const period = periods[rule](endedAt);
    if (!lastOf.has(period)) lastOf.set(period, run);
  }
  return [...lastOf]
    .sort(([one], [other]) => (one < other ? 1 : -1))
    .map(([period, run]) => ({ run, reason: `${rule} ${period}` }));
}

/** Their names sort as the periods do. */
const periods: Readonly<Record<Exclude<RetentionRule, "last">, (at: string) => string>> = {
  daily: (at) => at.slice(0, 10),
  weekly: weekOf,
  monthly: (at) => at.slice(0, 7),
  yearly: (at) => at.slice(0, 4),
};

/** A week is of the year that its Thursday is in. */
function weekOf(at: string): string {
  const day = new Date(at.slice(0, 10));
  const thursday = new Date(day.getTime() + (3 - ((day.getUTCDay() + 6) % 7)) * dayMillis);
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * dayMillis));
  return `${year}-W${String(week).padStart(2, "0")}`;
}
