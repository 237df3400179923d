/** A schedule's times as systemd's OnCalendar says them. */
import { readCronFields } from "./cron-fields.ts";
import type { Schedule } from "./schedule.ts";
import { ScheduleError } from "./schedule-error.ts";

const dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** @throws ScheduleError `inexpressible`, with the reason */
export function toCalendar({ name, cron, tz }: Pick<Schedule, "name" | "cron" | "tz">): string {
  const fields = readCronFields(cron);
  if (fields === null) throw inexpressible(name, cron, "L, W and # have no exact counterpart there");
  if (fields.isEither)
    throw inexpressible(
      name,
      cron,
      "a day of the month or a weekday, whichever comes, is two calendars there, and both at once are needed",
    );
  const { seconds, minutes, hours, days, months, weekdays } = fields;
  const on = weekdays.length === 7 ? "" : `${weekdays.map((day) => dayNames[day]).join(",")} `;
  const date = `*-${list(months, 12)}-${list(days, 31)}`;
  return `${on}${date} ${list(hours, 24)}:${list(minutes, 60)}:${list(seconds, 60)} ${tz}`;
}

/** @param all as many numbers as there are of the kind */
function list(numbers: readonly number[], all: number): string {
  return numbers.length === all ? "*" : numbers.map((number) => String(number).padStart(2, "0")).join(",");
}

function inexpressible(name: string, cron: string, why: string): ScheduleError {
  return new ScheduleError(
    "inexpressible",
    `systemd cannot say ${JSON.stringify(cron)} of ${name} exactly: ${why}.`,
    "Split it into two schedules, or have `armoire schedule run` begin it.",
  );
}
