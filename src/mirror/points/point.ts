/**
 * Parses points in time: a run number, a time, `latest`, `latest-1`, `-7d`, or the path of a mirror or export. It knows no
 * mirror: `resolve-point.ts` finds the run.
 */
import { errorClass } from "../../platform/errors.ts";
import { firstInstantOf, instantOf, wallOf } from "../../platform/text/zoned-time.ts";

/** A point in the history of a mirror. */
export type Point =
  | {
      readonly kind: "latest";
      /** The number of ended runs after it (default: 0). */
      readonly back?: number;
    }
  | { readonly kind: "run"; readonly run: number }
  | {
      readonly kind: "time";
      /** ISO 8601, UTC: the first millisecond of the given time. */
      readonly from: string;
      /** ISO 8601, UTC: the last millisecond of the given time, which may be a whole day or year. */
      readonly at: string;
      readonly text: string;
      /** The default zone, if the text depends on it; else null. */
      readonly timeZone: string | null;
    };

/** A point, or the path of a mirror or of an export folder. */
export type PointOrPath = Point | { readonly kind: "mirror" | "export"; readonly path: string };

/** What times without a zone, and times before now, depend on. */
export interface PointContext {
  /** Epoch milliseconds. */
  readonly now: number;
  /** IANA name; for times without a zone. */
  readonly timeZone: string;
}

/**
 * Parses what people write: `latest`, a run's number, a date, a time, or how long ago, such as `-7d`.
 * @throws PointError `syntax`
 */
export function parsePoint(text: string, context: PointContext): Point {
  const point = readPoint(text.trim(), context);
  if (point !== null) return point;
  throw new PointError("syntax", `${JSON.stringify(text)} is not a point in time.`, `Use ${forms}.`);
}

/**
 * Parses a point, or else takes the text as a path. `./latest` is always a path.
 * @param typeOfPath returns null if the path does not exist
 * @throws PointError `syntax`
 */
export function parsePointOrPath(
  text: string,
  context: PointContext,
  typeOfPath: (path: string) => "file" | "folder" | null,
): PointOrPath {
  const point = readPoint(text.trim(), context);
  if (point !== null) return point;
  const type = typeOfPath(text);
  if (type !== null) return { kind: type === "file" ? "mirror" : "export", path: text };
  throw new PointError(
    "syntax",
    `${JSON.stringify(text)} is neither a point in time nor a file or folder.`,
    `Use ${forms}; or the path of a mirror file or export folder.`,
  );
}

const forms =
  "a run number, a time such as 2026-11-03 or 2026-11-03T06:00Z, latest, latest-1, or -7d (h, d, w, m)";

/** Parses a point. @returns null if the text is not one */
export function readPoint(text: string, context: PointContext): Point | null {
  return parseLatest(text) ?? parseRun(text) ?? parseAgo(text, context) ?? parseTime(text, context.timeZone);
}

function parseLatest(text: string): Point | null {
  const [matched, back] = text.match(/^latest(?:-(\d{1,9}))?$/) ?? [];
  if (matched === undefined) return null;
  return back === undefined ? { kind: "latest" } : { kind: "latest", back: Number(back) };
}

/** A number from 2000 to 2099 is a year, unless it is written as `run:2026`. */
function parseRun(text: string): Point | null {
  const [, digits] = text.match(/^(?:run:(?=\d)|(?!20\d\d$))(\d{1,9})$/) ?? [];
  return digits === undefined ? null : { kind: "run", run: Number(digits) };
}

/** `-12h` subtracts real hours. Days, weeks and months keep the local time of day, across changes of the clocks. */
function parseAgo(text: string, { now, timeZone }: PointContext): Point | null {
  const [, digits, unit] = text.match(/^-(\d{1,4})([hdwm])$/) ?? [];
  if (digits === undefined) return null;
  const count = Number(digits);
  const ago = (instant: number, zone: string | null) => timePoint(instant, instant, text, zone);
  if (unit === "h") return ago(now - count * 3_600_000, null);
  const wall = new Date(wallOf(now, timeZone));
  if (unit === "m") {
    const day = wall.getUTCDate();
    wall.setUTCMonth(wall.getUTCMonth() - count);
    // The 31st of June becomes the last day of June.
    if (wall.getUTCDate() !== day) wall.setUTCDate(0);
  } else wall.setUTCDate(wall.getUTCDate() - count * (unit === "w" ? 7 : 1));
  return ago(instantOf(wall.getTime(), timeZone), timeZone);
}

const timeForm =
  /^(?<year>(?:19|2\d)\d\d)(?:-(?<month>\d\d)(?:-(?<day>\d\d)(?:[Tt ](?<hour>\d\d)(?::(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?)?(?<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?)?)?)?$/;

/** A time of any precision, from a year to a millisecond: the point is its last millisecond. */
function parseTime(text: string, timeZone: string): Point | null {
  const { zone, fraction, ...given } = text.match(timeForm)?.groups ?? {};
  if (given.year === undefined) return null;
  const names = ["year", "month", "day", "hour", "minute", "second"] as const;
  const numbers = names.flatMap((name) => (given[name] === undefined ? [] : [Number(given[name])]));
  const [year = 0, month = 1, ...rest] = numbers;
  const start = Date.UTC(year, month - 1, ...rest);
  // `Date.UTC` turns an invalid date, such as the 31st of June, into another one.
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

/** When the following year, month, day, ... begins. @param numbers the year, and the given parts of month, day and time */
function endOf(numbers: readonly number[]): number {
  const [year = 0, month = 1, ...rest] = numbers.with(-1, (numbers.at(-1) ?? 0) + 1);
  return Date.UTC(year, month - 1, ...rest);
}

/** The first millisecond of a fraction of a second, and the first one after it. Further digits are ignored. */
function millisOf(digits: string): { readonly first: number; readonly end: number } {
  const used = digits.slice(0, 3);
  const unit = 10 ** (3 - used.length);
  return { first: Number(used) * unit, end: (Number(used) + 1) * unit };
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

/** The current time and the default time zone, which is resolved lazily since that is slow. */
export function pointContext(): PointContext {
  return {
    now: Date.now(),
    get timeZone() {
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
      // As Node does when the system has no time zone.
      const isKnown = timeZone !== undefined && timeZone !== "Etc/Unknown";
      return isKnown ? timeZone : "UTC";
    },
  };
}

/** A point is invalid, or the mirror has no such point. */
export class PointError extends errorClass("PointError", {
  syntax: "usage",
  /** The mirror has no run of that number, or the run has not ended. */
  "no-such-run": "failed",
  /** The retention policy pruned the run. */
  pruned: "failed",
  /** No run had ended by then. */
  "too-early": "failed",
}) {}
