/** `--keep-last` to `--keep-yearly`: the runs or backups to retain. */
import type { Command } from "commander";
import { type RetentionPolicy, retentionRules } from "../../mirror/runs/retention.ts";
import { positiveNumber } from "./option-values.ts";

const descriptionsOf = (
  subject: "run" | "backup",
): Readonly<Record<(typeof retentionRules)[number], string>> => ({
  last: `keep the newest N ${subject}s`,
  daily: `keep the last ${subject} of each of the newest N days with one`,
  weekly: "the same for weeks, which begin on Monday",
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

export function addRetentionFlags(command: Command, subject: "run" | "backup" = "run"): Command {
  // 0 is refused: a script's empty variable would remove all but the latest one.
  for (const rule of retentionRules)
    command.option(`--keep-${rule} <n>`, descriptionsOf(subject)[rule], positiveNumber);
  return command;
}

/** @returns undefined without a flag: then all are kept */
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
