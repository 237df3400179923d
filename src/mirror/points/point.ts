/**
 * Points in time as people name them: a run, a time, `latest`, `latest-1`, `-7d`; where two mirrors are compared, also a file or a
 * folder. In: text, the present time and zone. Out: what it names. It looks into no mirror: `resolve-point.ts` does.
 */

import { errorClass } from "../../platform/errors.ts";
import { firstInstantOf, instantOf, wallOf } from "./zoned-time.ts";

/** A point in the life of one mirror. */
export type Point =
  | {
      readonly kind: "latest";
      /** How many ended runs before the latest it is; 0 unless told. */
      readonly back?: number;
    }
  | { readonly kind: "run"; readonly run: number }
  | {
      readonly kind: "time";
      /** ISO 8601, UTC: the first millisecond of what was named. */
      readonly from: string;
      /** ISO 8601, UTC: the last millisecond of what was named, which may be a whole day or year. */
      readonly at: string;
      readonly text: string;
      /** The zone that was assumed, since the text names none; null where none was needed. */
      readonly timeZone: string | null;
    };

/** Or a whole mirror or data package, as it is. */
export type PointOrPath = Point | { readonly kind: "mirror" | "export"; readonly path: string };

export interface PointContext {
  /** Epoch milliseconds. */
  readonly now: number;
  /** As in the IANA's database; for times without a zone. */
  readonly timeZone: string;
}

/** @throws PointError `syntax` */
export function parsePoint(text: string, context: PointContext): Point {
  const point = readPoint(text.trim(), context);
  if (point !== null) return point;
  throw new PointError("syntax", `${JSON.stringify(text)} is no point in time`, `Give ${forms}.`);
}

/**
 * What is no point may be a path. `./latest` is one in any case.
 * @param lookAt what lies at a path, if anything
 * @throws PointError `syntax`
 */
export function parsePointOrPath(
  text: string,
  context: PointContext,
  lookAt: (path: string) => "file" | "folder" | null,
): PointOrPath {
  const point = readPoint(text.trim(), context);
  if (point !== null) return point;
  const found = lookAt(text);
  if (found !== null) return { kind: found === "file" ? "mirror" : "export", path: text };
  throw new PointError(
    "syntax",
    `${JSON.stringify(text)} is no point in time, and no file or folder`,
    `Give ${forms}; or a mirror's file or an export's folder.`,
  );
}

const forms =
  "a run's number, a time such as 2026-11-03 or 2026-11-03T06:00Z, latest, latest-1, or -7d (h, d, w, m)";

/** @returns null for what is none */
export function readPoint(text: string, context: PointContext): Point | null {
  return readLatest(text) ?? readRun(text) ?? readAgo(text, context) ?? readTime(text, context.timeZone);
}

function readLatest(text: string): Point | null {
  const [matched, back] = text.match(/^latest(?:-(\d{1,9}))?$/) ?? [];
  if (matched === undefined) return null;
  return back === undefined ? { kind: "latest" } : { kind: "latest", back: Number(back) };
}

/** Four digits from 2000 to 2099 are a year; `run:2026` is the run all the same. */
function readRun(text: string): Point | null {
  const [, digits] = text.match(/^(?:run:(?=\d)|(?!20\d\d$))(\d{1,9})$/) ?? [];
  return digits === undefined ? null : { kind: "run", run: Number(digits) };
}

/** An hour is an hour; the clocks show the same time days, weeks and months ago. */
function readAgo(text: string, { now, timeZone }: PointContext): Point | null {
  const [, digits, unit] = text.match(/^-(\d{1,4})([hdwm])$/) ?? [];
  if (digits === undefined) return null;
  const count = Number(digits);
  const ago = (instant: number, zone: string | null) => timePoint(instant, instant, text, zone);
  if (unit === "h") return ago(now - count * 3_600_000, null);
  const wall = new Date(wallOf(now, timeZone));
  if (unit === "m") {
    const day = wall.getUTCDate();
    wall.setUTCMonth(wall.getUTCMonth() - count);
    // There is no 31st of June: its last day, then.
    if (wall.getUTCDate() !== day) wall.setUTCDate(0);
  } else wall.setUTCDate(wall.getUTCDate() - count * (unit === "w" ? 7 : 1));
  return ago(instantOf(wall.getTime(), timeZone), timeZone);
}

const timeForm =
  /^(?<year>(?:19|2\d)\d\d)(?:-(?<month>\d\d)(?:-(?<day>\d\d)(?:[Tt ](?<hour>\d\d)(?::(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?)?(?<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?)?)?)?$/;

/** A day is not over before its end: whatever is named, and however exactly, its last millisecond is the point. */
function readTime(text: string, timeZone: string): Point | null {
  const { zone, fraction, ...given } = text.match(timeForm)?.groups ?? {};
  if (given.year === undefined) return null;
  const names = ["year", "month", "day", "hour", "minute", "second"] as const;
  const numbers = names.flatMap((name) => (given[name] === undefined ? [] : [Number(given[name])]));
  const [year = 0, month = 1, ...rest] = numbers;
  const start = Date.UTC(year, month - 1, ...rest);
  // Whatever is no date or time, such as the 31st of June, became another one.
  const shown = new Date(start).toISOString().split(/\D/).map(Number);
  if (numbers.some((number, n) => number !== shown[n])) return null;
  const millis = fraction === undefined ? null : millisOf(fraction);
  const first = start + (millis?.first ?? 0);
  const last = (millis === null ? endOf(numbers) : start + millis.end) - 1;
  if (zone === undefined)
    return timePoint(firstInstantOf(first, timeZone), instantOf(last, timeZone), text, timeZone);
  const offset = offsetMillis(zone);
  return offset === null ? null : timePoint(first - offset, last - offset, text, null);
}

/** When the next of its kind begins. @param numbers the year, and as much as was given of month, day and time */
function endOf(numbers: readonly number[]): number {
  const [year = 0, month = 1, ...rest] = numbers.with(-1, (numbers.at(-1) ?? 0) + 1);
  return Date.UTC(year, month - 1, ...rest);
}

/** When a fraction of a second begins and is over; digits beyond milliseconds are left out. */
function millisOf(digits: string): { readonly first: number; readonly end: number } {
  const kept = digits.slice(0, 3);
  const unit = 10 ** (3 - kept.length);
  return { first: Number(kept) * unit, end: (Number(kept) + 1) * unit };
}

function offsetMillis(zone: string): number | null {
  const [, sign, hours, minutes = "0"] = zone.match(/^([+-])(\d\d):?(\d\d)?$/) ?? ["", "+", "0"];
  if (Number(hours) > 23 || Number(minutes) > 59) return null;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

function timePoint(first: number, last: number, text: string, timeZone: string | null): Point {
  const [from = "", at = ""] = [first, last].map((instant) => new Date(instant).toISOString());
  return { kind: "time", from, at, text, timeZone };
}

/** The present time, and the zone of times that name none: asked for only then, as to ask takes long. */
export function pointContext(): PointContext {
  return {
    now: Date.now(),
    get timeZone() {
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
      // Where the system does not say, Node itself shows times in UTC.
      const isKnown = timeZone !== undefined && timeZone !== "Etc/Unknown";
      return isKnown ? timeZone : "UTC";
    },
  };
}

/** A point in time that is invalid, or that the mirror does not have. */
export class PointError extends errorClass("PointError", {
  syntax: "usage",
  /** The mirror has no run of that number, or the run is still going on. */
  "no-such-run": "failed",
  /** The retention policy pruned the run. */
  forgotten: "failed",
  /** No run had ended by then. */
  "too-early": "failed",
}) {}
