/** A cron expression taken apart, for handing it to another scheduler: each field as the numbers that it allows. */

export interface CronFields {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  /** What was written, in five fields: without seconds, names and `+`. */
  readonly text: readonly string[];
  /** Both a day of the month and a weekday are named, and a day that is either will do. */
  readonly isEither: boolean;
}

const nicknames: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** @param cron one that is accepted as a schedule's @returns null where it says what numbers cannot, such as the last day of a month */
export function readCronFields(cron: string): CronFields | null {
  const written = (nicknames[cron.trim().toLowerCase()] ?? cron).trim().split(/\s+/);
  const [seconds = "0", minutes = "", hours = "", days = "", months = "", weekdays = ""] =
    written.length === 5 ? ["0", ...written] : written;
  const isBoth = weekdays.startsWith("+");
  const plainMonths = withNumbers(months, monthNames, 1);
  const plainWeekdays = withNumbers(weekdays.replace(/^\+/, ""), dayNames, 0);
  const fields = {
    seconds: readField(seconds, 0, 59),
    minutes: readField(minutes, 0, 59),
    hours: readField(hours, 0, 23),
    days: readField(days, 1, 31),
    months: readField(plainMonths, 1, 12),
    weekdays: readField(plainWeekdays, 0, 7),
  };
  if (!isComplete(fields)) return null;
  const isEither = !isBoth && !isWild(days) && !isWild(weekdays);
  const text = [minutes, hours, days, plainMonths, plainWeekdays].map((field) => field.replaceAll("?", "*"));
  return {
    ...fields,
    weekdays: [...new Set(fields.weekdays.map((day) => day % 7))].sort((a, b) => a - b),
    isEither,
    text,
  };
}

const isWild = (field: string): boolean => field === "*" || field === "?";

function isComplete<Key extends string>(
  fields: Readonly<Record<Key, readonly number[] | null>>,
): fields is Readonly<Record<Key, readonly number[]>> {
  return Object.values(fields).every((field) => field !== null);
}

function withNumbers(field: string, names: readonly string[], first: number): string {
  return field.replace(/[a-z]{3}/gi, (word) => {
    const index = names.indexOf(word.toLowerCase());
    return index === -1 ? word : String(index + first);
  });
}

function readField(field: string, least: number, most: number): readonly number[] | null {
  const numbers = new Set<number>();
  for (const part of field.split(",")) {
    const match = part.match(/^(?:([*?])|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/);
    if (match === null) return null;
    const [, wild, from, to, step = "1"] = match;
    const begin = wild === undefined ? Number(from) : least;
    // A weekday of 7 is the Sunday of 0 once more.
    const end = wild === undefined ? Number(to ?? from) : most === 7 ? 6 : most;
    for (let number = begin; number <= end; number += Number(step)) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b);
}
