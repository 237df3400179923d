/**
 * When a schedule comes due: the one place that reads cron expressions, for either engine. A time that does not exist
 * (clocks go forward) comes right after the gap, one that exists twice comes once; what goes by `*` or steps goes on by real time.
 */
import { Cron } from "croner";
import { ScheduleError } from "./errors.ts";
import type { Schedule } from "./schedule.ts";

const comparedTimes = 10;

type TimeOf = Pick<Schedule, "cron" | "tz" | "delayMillis">;

/** @returns epoch milliseconds of the first begin after that; null where there is none any more */
export function timeAfter(schedule: TimeOf, millis: number): number | null {
  const { delayMillis } = schedule;
  const time = openCron(schedule).nextRun(new Date(millis - delayMillis));
  return time === null ? null : time.getTime() + delayMillis;
}

/** @returns epoch milliseconds of the last begin until then; null where there was none */
export function timeUpTo(schedule: TimeOf, millis: number): number | null {
  const { delayMillis } = schedule;
  // croner looks before the moment that it is given, and at whole seconds.
  const second = Math.floor((millis - delayMillis) / 1000) + 1;
  const [time] = openCron(schedule).previousRuns(1, new Date(second * 1000));
  return time === undefined ? null : time.getTime() + delayMillis;
}

/** Whether it names seconds; else what it says is by the minute. */
export function hasSeconds({ cron }: Pick<Schedule, "cron">): boolean {
  return cron.trim().split(/\s+/).length === 6;
}

/**
 * @param now epoch milliseconds
 * @returns the zone as it is spelled
 * @throws ScheduleError `bad-time`
 */
export function requireTimes(cron: string, tz: string, now: number): string {
  const zone = requireZone(tz);
  let opened: Cron;
  try {
    opened = openCron({ cron, tz: zone });
  } catch (error) {
    throw noCron(cron, error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error));
  }
  // croner takes a moment in ISO 8601 too, for what is to be done once.
  if (opened.getPattern() === undefined) throw noCron(cron, "it is a single moment");
  if (opened.nextRun(new Date(now)) !== null) return zone;
  throw new ScheduleError(
    "bad-time",
    `${JSON.stringify(cron)} never comes due.`,
    "Name a day that there is.",
  );
}

/** @param now epoch milliseconds @throws ScheduleError `bad-time` where one run could be put off to the next */
export function requireJitterWithin(
  { cron, tz, jitterMillis }: Pick<Schedule, "cron" | "tz" | "jitterMillis">,
  now: number,
): void {
  const times = openCron({ cron, tz })
    .nextRuns(comparedTimes, new Date(now))
    .map((time) => time.getTime());
  const gaps = times.slice(1).map((time, n) => time - (times[n] ?? 0));
  if (jitterMillis === 0 || gaps.every((gap) => jitterMillis < gap)) return;
  throw new ScheduleError(
    "bad-time",
    `A --jitter of ${jitterMillis / 60_000} minutes is as long as it is from one run to the next.`,
    "Choose a shorter one.",
  );
}

function noCron(cron: string, reason: string): ScheduleError {
  return new ScheduleError(
    "bad-time",
    `${JSON.stringify(cron)} is no cron expression: ${reason.replace(/\.$/, "")}.`,
    'It has five fields, such as "0 6 * * *" for every day at six, or six that begin with seconds.',
  );
}

/** @throws ScheduleError `bad-time` */
function requireZone(tz: string): string {
  try {
    // An offset such as +02:00 knows no summer.
    if (/^[a-z]/i.test(tz)) return new Intl.DateTimeFormat("en", { timeZone: tz }).resolvedOptions().timeZone;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new ScheduleError(
    "bad-time",
    `There is no time zone ${JSON.stringify(tz)}.`,
    "Name one as IANA does, such as Europe/Paris or UTC.",
  );
}

/** @throws what croner throws, which has no type of its own, where the expression is none */
function openCron({ cron, tz }: Pick<Schedule, "cron" | "tz">): Cron {
  return new Cron(cron, {
    timezone: tz,
    paused: true,
    mode: "5-or-6-parts",
    // Lists and ranges of times are times too, as in Vixie's cron.
    fixedTimeRule: "no-wildcard",
  });
}
