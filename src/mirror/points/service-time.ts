/** The service's times: ISO 8601 without a zone, with any fraction of a second or none. They are never made moments of. */
import { type PointContext, PointError, readPoint } from "./point.ts";

const form =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** Texts whose order is that of the times; null for what is no such time. A zone is left out of account. */
export function toSortable(time: unknown): string | null {
  const match = typeof time === "string" ? form.exec(time) : null;
  if (match === null) return null;
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", fraction = ""] = match;
  const isDate = +month >= 1 && +month <= 12 && +day >= 1 && +day <= 31;
  // 24:00 and leap seconds are times.
  if (!isDate || +hour > 24 || +minute > 59 || +second > 60) return null;
  const rest = fraction.replace(/0+$/, "");
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${rest === "" ? "" : `.${rest}`}`;
}

/**
 * The time that somebody asks for, as `toSortable` gives it: as it is written; the beginning of a day, month or year. An
 * instant, such as `-7d` or a time with a zone, is taken in UTC, since nothing tells which zone the service's times are of.
 * @throws PointError `syntax`
 */
export function readServiceTime(text: string, context: PointContext): string {
  const given = text.trim();
  const naive = hasZone(given) ? null : toSortable(given);
  if (naive !== null && isDay(naive.slice(0, 10))) return naive;
  const point = readPoint(given, context);
  if (point?.kind === "time") return toServiceTime(point.from);
  throw new PointError(
    "syntax",
    `${JSON.stringify(text)} is ${point === null ? "no" : "a run, and no"} time`,
    "Write it as 2026-11-03, 2026-11-03T06:30:00 as the service does in last_modified_at, or -7d.",
  );
}

/** @param instant ISO 8601, UTC */
export function toServiceTime(instant: string): string {
  return toSortable(instant) ?? instant;
}

function hasZone(text: string): boolean {
  return form.exec(text)?.[8] !== undefined;
}

function isDay(day: string): boolean {
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day);
}
