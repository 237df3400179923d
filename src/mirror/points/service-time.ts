/** The service's times: ISO 8601 without a time zone, with or without a fraction of a second. They are never converted to UTC. */
import { trimEnd } from "../../../schema/input/trim.ts";
import { type PointContext, PointError, readPoint } from "./point.ts";

const form =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** A text that sorts by time; null for an invalid time. A time zone is ignored. */
export function toSortable(time: unknown): string | null {
  const match = typeof time === "string" ? form.exec(time) : null;
  if (match === null) return null;
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00", fraction = ""] = match;
  const isDate = +month >= 1 && +month <= 12 && +day >= 1 && +day <= 31;
  // 24:00 and leap seconds are valid.
  if (!isDate || +hour > 24 || +minute > 59 || +second > 60) return null;
  const rest = trimEnd(fraction, "0");
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${rest === "" ? "" : `.${rest}`}`;
}

/**
 * Parses a time for comparison with the service's times, in the form of `toSortable`. A day, month or year means its
 * beginning. `-7d` and times with a zone are converted to UTC, since the zone of the service's times is unknown.
 * @throws PointError `syntax`
 */
export function readServiceTime(text: string, context: PointContext): string {
  const given = text.trim();
  const naive = hasZone(given) ? null : toSortable(given);
  if (naive !== null && isDay(naive.slice(0, 10))) return naive;
  const point = readPoint(given, context);
  if (point?.kind === "time") return toServiceTime(point.from);
  const hint = "Use 2026-11-03, 2026-11-03T06:30:00 (as in last_modified_at), or -7d.";
  throw new PointError(
    "syntax",
    point === null
      ? `${JSON.stringify(text)} is not a time.`
      : `Expected a time, got a run: ${JSON.stringify(text)}.`,
    point === null
      ? hint
      : `${hint} Only the mirror's own changes have runs: \`armoire diff --from ${given}\` lists those since then.`,
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
