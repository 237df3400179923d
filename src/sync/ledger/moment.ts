import { dayMillis } from "../../service/clock.ts";

/**
 * A moment in the future by the local clock, and how far off it was when it was told: a clock that is set back afterwards
 * does not put it off any further than that.
 */
export interface Moment {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly spanMillis: number;
}

/** No allowance is known to be granted for longer than a month; what is further off was not meant. */
const longestWindowMillis = 32 * dayMillis;

/** The end of a window; null when it is past or absurdly far away. A clock that is set back makes it a day at least. */
export function windowEnd(at: number | null, now: number): Moment | null {
  if (at === null || at <= now || at - now > longestWindowMillis) return null;
  return { at, spanMillis: Math.max(dayMillis, at - now) };
}

export function clampMoment(moment: Moment | null, now: number): Moment | null {
  if (moment === null || moment.at <= now + moment.spanMillis) return moment;
  return { ...moment, at: now + moment.spanMillis };
}
