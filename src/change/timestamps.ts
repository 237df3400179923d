/** The service's times: ISO 8601 without a zone, with any fraction of a second or none. They are never made moments of. */
import { ChangeError } from "./change-error.ts";

const written =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** Texts whose order is that of the times; null for what is no such time. A zone is left out of account. */
export function toSortable(time: unknown): string | null {
  const match = typeof time === "string" ? written.exec(time) : null;
  if (match === null) return null;
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", fraction = ""] = match;
  const isDate = +month >= 1 && +month <= 12 && +day >= 1 && +day <= 31;
  // 24:00 and leap seconds are times.
  if (!isDate || +hour > 24 || +minute > 59 || +second > 60) return null;
  const rest = fraction.replace(/0+$/, "");
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${rest === "" ? "" : `.${rest}`}`;
}

/**
 * The time that somebody asks for, as `toSortable` gives it; the beginning of a day, month or year.
 * @throws ChangeError `bad-time`
 */
export function readNaiveTime(text: string): string {
  const time = toSortable(text.trim());
  if (time !== null && written.exec(text.trim())?.[8] === undefined) return time;
  throw new ChangeError(
    "bad-time",
    time === null
      ? `${JSON.stringify(text)} is no time.`
      : `${JSON.stringify(text)} has a zone, and the service's own times have none.`,
    "Write it as 2026-11-03 or 2026-11-03T06:30:00, as the service does in last_modified_at.",
  );
}
