/**
 * Between instants and what the clocks of a time zone show, which is given here as the epoch milliseconds at which clocks
 * in UTC show the same.
 */
import { dayMillis } from "../../platform/clock.ts";

/** @throws RangeError for a time zone that there is not */
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
 * The last instant at which the clocks show that: they do twice where they are set back. Where they are set forward past
 * it, what they would show had they not been.
 */
export function instantOf(wall: number, timeZone: string): number {
  return Math.max(...instantsOf(wall, timeZone));
}

/** The first one. */
export function firstInstantOf(wall: number, timeZone: string): number {
  return Math.min(...instantsOf(wall, timeZone));
}

function instantsOf(wall: number, timeZone: string): readonly number[] {
  const offsetAt = (instant: number) => wallOf(instant, timeZone) - instant;
  // No zone is a day away from UTC, and none changes its clocks twice in two days.
  const [before, after] = [offsetAt(wall - dayMillis), offsetAt(wall + dayMillis)];
  const fitting = [before, after]
    .map((offset) => wall - offset)
    .filter((instant) => wallOf(instant, timeZone) === wall);
  return fitting.length > 0 ? fitting : [wall - before];
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Kept, since making one takes longer than all that it is used for. */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const made =
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
  formatters.set(timeZone, made);
  return made;
}
