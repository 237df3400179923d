/** `--keep-last` to `--keep-yearly`: which runs a mirror goes on remembering, and which backups stay. */
import type { Command } from "commander";
import { type RetentionPolicy, retentionRules } from "../../mirror/runs/retention.ts";
import { positiveNumber } from "./option-values.ts";

const described = (what: "run" | "backup"): Readonly<Record<(typeof retentionRules)[number], string>> => ({
  last: `keep the newest so many ${what}s`,
  daily: `keep the last ${what} of each of the newest so many days`,
  weekly: "the same for weeks, from Monday",
  monthly: "the same for months",
  yearly: "the same for years",
});

export interface RetentionFlags {
  readonly keepLast?: number;
  readonly keepDaily?: number;
  readonly keepWeekly?: number;
  readonly keepMonthly?: number;
  readonly keepYearly?: number;
}

export function addRetentionFlags(command: Command, what: "run" | "backup" = "run"): Command {
  // Of nothing, as where a script's variable is empty, all but the latest one would go.
  for (const rule of retentionRules)
    command.option(`--keep-${rule} <n>`, described(what)[rule], positiveNumber);
  return command;
}

/** @returns undefined where none was given: then all are kept */
export function readRetentionFlags(options: RetentionFlags): RetentionPolicy | undefined {
  const { keepLast, keepDaily, keepWeekly, keepMonthly, keepYearly } = options;
  const given = Object.entries({
    last: keepLast,
    daily: keepDaily,
    weekly: keepWeekly,
    monthly: keepMonthly,
    yearly: keepYearly,
  }).filter(([, count]) => count !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
