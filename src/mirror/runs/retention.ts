/**
 * Decides which runs a retention policy keeps. In: the runs that can be shown, and a policy. Out: the kept runs with the
 * reasons, and the others. Days, weeks (from Monday, numbered as in ISO 8601), months and years are those of UTC.
 */
import { dayMillis } from "../../platform/clock.ts";
import { requireWholeNumbers } from "../../platform/errors.ts";
import type { EndedRun } from "../points/resolve-point.ts";

export const retentionRules = ["last", "daily", "weekly", "monthly", "yearly"] as const;

export type RetentionRule = (typeof retentionRules)[number];

/** How many runs each rule keeps: the newest runs, or the last run of each of the newest periods that have one. */
export type RetentionPolicy = Readonly<Partial<Record<RetentionRule, number>>>;

export interface KeptRun extends EndedRun {
  /** `latest`, `last`, `on-change`, or a rule and the period whose last run this is, for example `weekly 2026-W03`. */
  readonly reasons: readonly string[];
}

/** Both lists are ordered from the newest run to the oldest. */
export interface RetentionChoice {
  readonly keep: readonly KeptRun[];
  readonly prune: readonly EndedRun[];
}

/**
 * Keeps the latest run, and each run that at least one rule keeps. A policy without rules keeps all runs. As for points, a
 * run with a higher number is newer, whatever its clock said.
 * @throws RangeError if a rule keeps no whole number of runs
 * @param passedOn the last run whose changes were passed on: kept too, because later changes are found by comparing with it
 */
export function chooseRuns(
  runs: readonly EndedRun[],
  policy: RetentionPolicy,
  passedOn: number | null = null,
): RetentionChoice {
  const newestFirst = runs.toSorted((a, b) => b.run - a.run);
  const reasons = new Map<number, string[]>(newestFirst.slice(0, 1).map(({ run }) => [run, ["latest"]]));
  requireWholeNumbers(0, policy);
  const rules = retentionRules.filter((rule) => policy[rule] !== undefined);
  for (const rule of rules) {
    for (const { run, reason } of candidatesOf(rule, newestFirst).slice(0, policy[rule]))
      reasons.set(run, [...(reasons.get(run) ?? []), reason]);
  }
  const compared = passedOn === null ? -1 : newestFirst.findIndex(({ run }) => run <= passedOn);
  const needed = compared > 0 ? newestFirst[compared] : undefined;
  if (needed !== undefined) reasons.set(needed.run, [...(reasons.get(needed.run) ?? []), "on-change"]);
  const isKept = ({ run }: EndedRun) => rules.length === 0 || reasons.has(run);
  return {
    keep: newestFirst.filter(isKept).map((run) => ({ ...run, reasons: reasons.get(run.run) ?? [] })),
    prune: newestFirst.filter((run) => !isKept(run)),
  };
}

/** The runs that a rule without a limit would keep, newest first. */
function candidatesOf(
  rule: RetentionRule,
  newestFirst: readonly EndedRun[],
): { readonly run: number; readonly reason: string }[] {
  if (rule === "last") return newestFirst.map(({ run }) => ({ run, reason: rule }));
  const lastRunOf = new Map<string, number>();
  for (const { run, endedAt } of newestFirst) {
    const period = periodOf[rule](endedAt);
    if (!lastRunOf.has(period)) lastRunOf.set(period, run);
  }
  return [...lastRunOf]
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([period, run]) => ({ run, reason: `${rule} ${period}` }));
}

/** The names of periods sort like the periods. */
const periodOf: Readonly<Record<Exclude<RetentionRule, "last">, (at: string) => string>> = {
  daily: (at) => at.slice(0, 10),
  weekly: weekOf,
  monthly: (at) => at.slice(0, 7),
  yearly: (at) => at.slice(0, 4),
};

/** ISO 8601: a week belongs to the year of its Thursday. */
function weekOf(at: string): string {
  const day = new Date(at.slice(0, 10));
  const thursday = new Date(day.getTime() + (3 - ((day.getUTCDay() + 6) % 7)) * dayMillis);
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * dayMillis));
  return `${year}-W${String(week).padStart(2, "0")}`;
}
