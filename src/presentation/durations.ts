/** Lengths of time, and rates, for people. */
import { formatNumber } from "./numbers.ts";

export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${tenths(seconds / 3600)} h`;
  return `${tenths(seconds / 86_400)} days`;
}

function tenths(number: number): number {
  return Math.round(number * 10) / 10;
}

/** @param since ISO 8601, UTC; null gives an empty text. @param now epoch milliseconds */
export function formatAge(since: string | null, now: number): string {
  return since === null ? "" : formatDuration(Math.max(0, now - Date.parse(since)) / 1000);
}

export function formatDays(days: number): string {
  return days === 1 ? "1 day" : `${formatNumber(days)} days`;
}

/** Such as `300 a day`. @param windowSeconds null if it is not known */
export function formatRate(requests: number, windowSeconds: number | null): string {
  const count = formatNumber(requests);
  if (windowSeconds === null) return `${count} per window`;
  const unit = unitsOfTime.find(({ seconds }) => windowSeconds % seconds === 0 && windowSeconds >= seconds);
  if (unit === undefined) return `${count} in ${formatDuration(windowSeconds)}`;
  const units = windowSeconds / unit.seconds;
  return units === 1 ? `${count} ${unit.one}` : `${count} in ${units} ${unit.many}`;
}

const unitsOfTime = [
  { seconds: 86_400, one: "a day", many: "days" },
  { seconds: 3600, one: "an hour", many: "hours" },
  { seconds: 60, one: "a minute", many: "minutes" },
  { seconds: 1, one: "a second", many: "seconds" },
];
