/** Moments for people, in UTC or in the zone of the machine. */
import { formatDuration } from "./durations.ts";

const precisions = {
  minute: { millis: 60_000, letters: 16 },
  second: { millis: 1000, letters: 19 },
} as const;

export type Step = keyof typeof precisions;

export type Zone = "UTC" | "local";

/** The zone that times for people are shown in. It belongs to the process, as its terminal does. */
let zone: Zone = "UTC";

export function showTimesIn(chosen: Zone): void {
  zone = chosen;
}

/** @param moment ISO 8601, UTC @returns cut to the precision, such as `2026-11-24 01:47 UTC`; local time without a zone */
export function formatTime(moment: string, step: Step, shownIn: Zone = zone): string {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return moment;
  const minutesWest = shownIn === "UTC" ? 0 : at.getTimezoneOffset();
  const shifted = new Date(at.getTime() - minutesWest * 60_000).toISOString();
  const shown = shifted.slice(0, precisions[step].letters).replace("T", " ");
  return shownIn === "UTC" ? `${shown} UTC` : shown;
}

export const formatMinute = (moment: string): string => formatTime(moment, "minute");

export const formatSecond = (moment: string): string => formatTime(moment, "second");

/** For texts that are the same on every machine, such as files of an export. */
export const utcMinute = (moment: string): string => formatTime(moment, "minute", "UTC");

export const utcSecond = (moment: string): string => formatTime(moment, "second", "UTC");

/** A time that Armoire stores, to the second. Any other value, such as a time of the service, stays as it is. */
export function formatStoredTime<Value>(value: Value): Value | string {
  return typeof value === "string" && storedTime.test(value) ? formatSecond(value) : value;
}

const storedTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * When a schedule is due next: the terminal and the pages say it alike. It is rounded down, to the minute that the user gave.
 * @param nextAt ISO 8601, UTC; null if it is never due again
 */
export const formatNext = (nextAt: string | null, now: number, step: Step = "minute"): string =>
  nextAt === null ? "never" : `${formatTime(nextAt, step)} ${distance(nextAt, now)}`;

/**
 * A future time, rounded up, with its distance from now.
 * @param moment ISO 8601, UTC
 * @param now epoch milliseconds
 * @param step the precision
 */
export function formatMoment(moment: string, now: number, step: Step = "minute"): string {
  const { millis } = precisions[step];
  const later = new Date(Math.ceil(Date.parse(moment) / millis) * millis);
  const shown = formatTime(later.toISOString(), step);
  return `${shown} ${distance(moment, now)}`;
}

const distance = (moment: string, now: number): string =>
  `(in ${formatDuration(Math.max(0, Date.parse(moment) - now) / 1000)})`;
