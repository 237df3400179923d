/** `last_modified_at` as the service writes it: no zone, and microseconds now and then. */
import type { Random } from "../random.ts";

const firstYearsSeconds = Date.UTC(2012, 0, 1) / 1_000;
const firstYearsSpanSeconds = 12 * 365 * 86_400;
const stepsBeginSeconds = Date.UTC(2025, 0, 1) / 1_000;

/** A time in 2012 to 2023, before the sandbox's first day. */
export function firstDaysDate(random: Random): string {
  return format(firstYearsSeconds + random.integer(firstYearsSpanSeconds), random);
}

/** Each step is a day of 2025 and later, so that a step's dates follow from its number and not from the real time. */
export function stepDate(step: number, secondsIntoStep: number, random: Random): string {
  return format(stepsBeginSeconds + step * 86_400 + secondsIntoStep, random);
}

function format(seconds: number, random: Random): string {
  const text = new Date(seconds * 1_000).toISOString().slice(0, 19);
  return random.chance(0.25) ? `${text}.${String(random.integer(1_000_000)).padStart(6, "0")}` : text;
}
