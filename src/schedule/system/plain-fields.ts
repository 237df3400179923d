/** Schedules of minutes, hours and days in the machine's time zone: what the schedulers of macOS and Windows can express. */
import { type CronFields, maxDefaultJitterMillis, readCronFields } from "../cron-times.ts";
import { ScheduleError } from "../errors.ts";
import type { Schedule } from "../schedule.ts";

/** @throws ScheduleError `inexpressible` */
export function plainFieldsOf(
  schedule: Schedule,
  scheduler: string,
  { allowsBothDays, allowsDelay }: { readonly allowsBothDays: boolean; readonly allowsDelay: boolean },
): CronFields {
  const fields = readCronFields(schedule.cron);
  if (fields === null) throw inexpressible(schedule, scheduler, "it has no L, W and #");
  const refuse = (problem: string) => inexpressible(schedule, scheduler, problem);
  if (fields.seconds.length !== 1 || fields.seconds[0] !== 0) throw refuse("it has no seconds");
  if (schedule.tz !== Intl.DateTimeFormat().resolvedOptions().timeZone)
    throw refuse(`it uses the machine's time zone, not ${schedule.tz}`);
  const areBothDays = fields.days.length < 31 && fields.weekdays.length < 7;
  if (areBothDays && !(allowsBothDays && fields.isEither))
    throw refuse("it cannot combine a day of the month and a weekday");
  if (!allowsDelay && schedule.jitterMillis > maxDefaultJitterMillis)
    throw refuse("it has no --jitter of more than a minute");
  return fields;
}

export const inexpressible = (
  { name, cron }: Pick<Schedule, "name" | "cron">,
  scheduler: string,
  problem: string,
): ScheduleError =>
  new ScheduleError(
    "inexpressible",
    `${scheduler} cannot express ${JSON.stringify(cron)} of ${name}: ${problem}.`,
    "Change the schedule, or keep `armoire schedule run` running.",
  );

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export const escapeXml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => entities[character] ?? "");
