/** `last_modified_at` as the service writes it: without a zone, sometimes with microseconds. */
import type { Random } from "../random.ts";

const firstYearsSeconds = Date.UTC(2012, 0, 1) / 1_000;
const firstYearsSpanSeconds = 12 * 365 * 86_400;
const stepsBeginSeconds = Date.UTC(2025, 0, 1) / 1_000;

/** A time in 2012 to 2023, before the sandbox's first day. */
export function firstDaysDate(random: Random): string {
  return format(firstYearsSeconds + random.integer(firstYearsSpanSeconds), random);
}

/** Step N is day N from 2025-01-01, so dates depend on the step's number and not on the real time. */
export function stepDate(step: number, secondsIntoStep: number, random: Random): string {
  return format(stepsBeginSeconds + step * 86_400 + secondsIntoStep, random);
}

function format(seconds: number, random: Random): string {
  const text = new Date(seconds * 1_000).toISOString().slice(0, 19);
  return random.chance(0.25) ? `${text}.${String(random.integer(1_000_000)).padStart(6, "0")}` : text;
}
