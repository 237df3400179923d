/**
 * Converts between instants and the local times of a time zone. A local time (`wall`) is given as the epoch milliseconds at
 * which a clock in UTC shows it.
 */
import { dayMillis } from "../clock.ts";

/** The local time at an instant. @throws RangeError for an unknown time zone */
export function wallOf(instant: number, timeZone: string): number {
  const fields = Object.fromEntries(
    formatterOf(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<"year" | "month" | "day" | "hour" | "minute" | "second", number>;
  const { year, month, day, hour, minute, second } = fields;
  const millis = ((instant % 1000) + 1000) % 1000;
  return Date.UTC(year, month - 1, day, hour, minute, second, millis);
}

/**
 * The last instant with this local time: there are two when clocks are set back. A local time that is skipped when clocks
 * are set forward is converted with the offset before the change.
 */
export function instantOf(wall: number, timeZone: string): number {
  return Math.max(...instantsOf(wall, timeZone));
}

/** As `instantOf`, but the first instant. */
export function firstInstantOf(wall: number, timeZone: string): number {
  return Math.min(...instantsOf(wall, timeZone));
}

function instantsOf(wall: number, timeZone: string): readonly number[] {
  const offsetAt = (instant: number) => wallOf(instant, timeZone) - instant;
  // Offsets are less than a day, and no zone changes its clocks twice in two days.
  const [before, after] = [offsetAt(wall - dayMillis), offsetAt(wall + dayMillis)];
  const matching = [before, after]
    .map((offset) => wall - offset)
    .filter((instant) => wallOf(instant, timeZone) === wall);
  return matching.length > 0 ? matching : [wall - before];
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Cached: a formatter takes longer to create than to use. */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const formatter =
    formatters.get(timeZone) ??
    new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  formatters.set(timeZone, formatter);
  return formatter;
}
