/**
 * Fixed times in a gap of the clock that ends on the next day, as each spring in Greenland: croner finds all others. In: a
 * pattern and a time zone. Out: the moment right after the gap.
 */
import { Cron, type CronOptions, CronPattern } from "croner";
import { dayMillis } from "../platform/clock.ts";
import { wallOf } from "../platform/text/zoned-time.ts";

interface Pattern {
  readonly cron: string;
  readonly tz: string;
}

/** @returns epoch milliseconds of the first such moment after `millis`, if the next due time lies in such a gap; else null */
export function skippedAfter({ cron, tz }: Pattern, millis: number, options: CronOptions): number | null {
  if (!new CronPattern(cron, undefined, options).isFixedTime) return null;
  const utc = new Cron(cron, { ...options, timezone: "UTC", paused: true });
  const offsetAt = (instant: number) => wallOf(instant, tz) - instant;
  /** As if the clock kept this offset. */
  const nextAt = (offset: number) => {
    const time = utc.nextRun(new Date(millis + offset));
    return time === null ? null : time.getTime() - offset;
  };
  const present = offsetAt(millis);
  const next = nextAt(present);
  // The offset may change once before the gap, for the winter.
  const before = next === null ? present : offsetAt(next - dayMillis);
  for (const offset of new Set([present, before])) {
    const time = nextAt(offset);
    if (time === null) continue;
    const gap = offsetAt(time) - offset;
    if (gap <= 0 || offsetAt(time - gap) !== offset) continue;
    const end = firstWith(offsetAt, offset + gap, time - gap, time);
    if (end > millis) return end;
  }
  return null;
}

/** By bisection, to the second. */
function firstWith(offsetAt: (millis: number) => number, offset: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000;
    if (offsetAt(middle) === offset) high = middle;
    else low = middle;
  }
  return high;
}
