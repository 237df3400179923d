/**
 * The only reader of cron expressions. In: an expression and a time zone. Out: when a schedule is due, and the
 * numbers of each field for other schedulers.
 *
 * Clock changes: a fixed time that the clock skips is due right after the gap, and one that it repeats is due once.
 * Times with `*` or steps continue in real time.
 */

import { Cron, CronPattern } from "croner";
import { messageOf } from "../platform/errors.ts";
import { ScheduleError } from "./errors.ts";
import type { Schedule } from "./schedule.ts";
import { skippedAfter } from "./skipped-times.ts";

type CronSchedule = Pick<Schedule, "cron" | "tz" | "delayMillis">;

/** @returns epoch milliseconds of the first due time after `millis`; null when there is none */
export function timeAfter(schedule: CronSchedule, millis: number): number | null {
  const { delayMillis } = schedule;
  const from = millis - delayMillis;
  const next = parseCron(schedule).nextRun(new Date(from))?.getTime() ?? Number.POSITIVE_INFINITY;
  const skipped = skippedAfter(schedule, from, patternOptions) ?? Number.POSITIVE_INFINITY;
  const time = Math.min(next, skipped);
  return time === Number.POSITIVE_INFINITY ? null : time + delayMillis;
}

/** @returns epoch milliseconds of the last due time up to `millis`, inclusive; null when there is none */
export function timeUpTo(schedule: CronSchedule, millis: number): number | null {
  const { delayMillis } = schedule;
  // croner excludes the given moment, and works in whole seconds.
  const second = Math.floor((millis - delayMillis) / 1000) + 1;
  const [time] = parseCron(schedule).previousRuns(1, new Date(second * 1000));
  if (time === undefined) return null;
  const last = time.getTime() + delayMillis;
  const later = timeAfter(schedule, last);
  return later !== null && later <= millis ? later : last;
}

/** Whether the expression has a field for seconds. */
export function hasSeconds({ cron }: Pick<Schedule, "cron">): boolean {
  return cron.trim().split(/\s+/).length === 6;
}

/**
 * @param now epoch milliseconds
 * @returns the time zone in IANA's spelling
 * @throws ScheduleError `bad-time`
 */
export function requireTimes(cron: string, tz: string, now: number): string {
  const zone = requireTimeZone(tz);
  let parsed: Cron;
  try {
    parsed = parseCron({ cron, tz: zone });
  } catch (error) {
    const reason = messageOf(error);
    throw badExpression(cron, reason.replace(/^CronPattern: /, ""));
  }
  // croner also accepts an ISO 8601 timestamp, for a single run.
  if (parsed.getPattern() === undefined) throw badExpression(cron, "it is a single moment");
  if (parsed.nextRun(new Date(now)) !== null) return zone;
  throw new ScheduleError(
    "bad-time",
    `${JSON.stringify(cron)} is never due.`,
    "Use a day that exists in the calendar.",
  );
}

const comparedTimes = 10;

/**
 * Requires that a delay never reaches the next due time.
 * @param now epoch milliseconds
 * @throws ScheduleError `bad-time`
 */
export function requireJitterWithin(
  { cron, tz, jitterMillis }: Pick<Schedule, "cron" | "tz" | "jitterMillis">,
  now: number,
): void {
  if (jitterMillis === 0 || jitterMillis < shortestGapMillis({ cron, tz }, now)) return;
  throw new ScheduleError(
    "bad-time",
    `A --jitter of ${jitterMillis / 60_000} minutes is not shorter than the time between two runs.`,
    "Choose a shorter --jitter.",
  );
}

/** Without `--jitter`, runs are delayed by at most this time, so that not all of them start on the minute. */
export const maxDefaultJitterMillis = 60_000;

/**
 * A tenth of the time between two runs, in whole seconds, and at most a minute.
 * @param now epoch milliseconds
 */
export function defaultJitterMillis(schedule: Pick<Schedule, "cron" | "tz">, now: number): number {
  const tenth = Math.floor(shortestGapMillis(schedule, now) / 10_000) * 1000;
  return Math.min(tenth, maxDefaultJitterMillis);
}

/** Infinite for a single run. */
function shortestGapMillis({ cron, tz }: Pick<Schedule, "cron" | "tz">, now: number): number {
  const times = parseCron({ cron, tz })
    .nextRuns(comparedTimes, new Date(now))
    .map((time) => time.getTime());
  return Math.min(...times.slice(1).map((time, n) => time - (times[n] ?? 0)));
}

/** A cron expression as the numbers that each field allows, in ascending order. */
export interface CronFields {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  /** 1 is January. */
  readonly months: readonly number[];
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  /** The five fields from minutes to weekdays as a crontab accepts them: no names, no `?`, no `+`. */
  readonly text: readonly string[];
  /** Whether both a day of the month and a weekday are restricted, and one of the two is enough. */
  readonly isEither: boolean;
}

/** How croner marks every occurrence of a weekday; other values are single ones, such as the second Monday. */
const everyOccurrence = 0b111111;

/**
 * @param cron a valid expression
 * @returns null if numbers cannot express it, such as the last day of the month
 */
export function readCronFields(cron: string): CronFields | null {
  const pattern = new CronPattern(cron, undefined, patternOptions);
  const hasOccurrences = pattern.dayOfWeek.some((bits) => bits !== 0 && bits !== everyOccurrence);
  if (
    hasOccurrences ||
    pattern.lastDayOfMonth ||
    pattern.lastWeekday ||
    pattern.nearestWeekdays.some(Boolean)
  )
    return null;
  const fields = {
    seconds: numbersOf(pattern.second, 0),
    minutes: numbersOf(pattern.minute, 0),
    hours: numbersOf(pattern.hour, 0),
    days: numbersOf(pattern.day, 1),
    months: numbersOf(pattern.month, 1),
    weekdays: numbersOf(pattern.dayOfWeek, 0),
  };
  const { minutes, hours, days, months, weekdays } = fields;
  // croner has replaced a nickname such as @daily in `pattern.pattern`.
  const written = pattern.pattern.trim().split(/\s+/).slice(-5);
  const text = [minutes, hours, days, months, weekdays].map((numbers, n) =>
    toCrontabField(written[n] ?? "", numbers),
  );
  return { ...fields, text, isEither: !pattern.useAndLogic && !pattern.starDOM && !pattern.starDOW };
}

function numbersOf(allowed: readonly number[], first: number): number[] {
  return allowed.flatMap((isAllowed, index) => (isAllowed ? [index + first] : []));
}

/** The field as written if a crontab can read it. Names become numbers: in a crontab, they have no ranges. */
function toCrontabField(written: string, numbers: readonly number[]): string {
  const plain = written.replaceAll("?", "*").replace(/^\+/, "");
  return /^[\d*,/-]+$/.test(plain) ? plain : toRanges(numbers);
}

/** `[1, 2, 3, 5]` becomes `1-3,5`. */
function toRanges(numbers: readonly number[]): string {
  const starts = numbers.filter((number) => !numbers.includes(number - 1));
  const ends = numbers.filter((number) => !numbers.includes(number + 1));
  return starts.map((start, n) => (start === ends[n] ? `${start}` : `${start}-${ends[n]}`)).join(",");
}

const patternOptions = {
  mode: "5-or-6-parts",
  // Lists and ranges of hours are fixed times too, as in Vixie cron.
  fixedTimeRule: "no-wildcard",
} as const;

/** @throws croner's error, which has no class of its own, if the expression is invalid */
function parseCron({ cron, tz }: Pick<Schedule, "cron" | "tz">): Cron {
  return new Cron(cron, { ...patternOptions, timezone: tz, paused: true });
}

/** @throws ScheduleError `bad-time` */
function requireTimeZone(tz: string): string {
  try {
    // An offset such as +02:00 has no daylight saving time.
    if (/^[a-z]/i.test(tz)) return new Intl.DateTimeFormat("en", { timeZone: tz }).resolvedOptions().timeZone;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new ScheduleError(
    "bad-time",
    `There is no time zone ${JSON.stringify(tz)}.`,
    "Use an IANA name, such as Europe/Paris or UTC.",
  );
}

function badExpression(cron: string, reason: string): ScheduleError {
  return new ScheduleError(
    "bad-time",
    `${JSON.stringify(cron)} is not a cron expression: ${reason.replace(/\.$/, "")}.`,
    'Use five fields, such as "0 6 * * *" for every day at six, or six fields that begin with seconds.',
  );
}
