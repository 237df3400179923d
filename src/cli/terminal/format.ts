/** Formats bytes, times and JSON, and hides tokens in text. */
import { toJson } from "../../../exports/formats/json.ts";
import { looksLikeToken } from "../../accounts/account-name.ts";
import { escapeLines } from "./safe-text.ts";

export function formatBytes(bytes: number): string {
  if (bytes < 2 ** 20) return `${(bytes / 2 ** 10).toFixed(1)} KiB`;
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

export const formatCount = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

export const formatRows = (rows: number): string => formatCount(rows, "row");

/** A resource of a kind, in words. The kinds of lists are named like what they list: `models`, and `model`. */
export function formatKind(kind: string): string {
  if (kind === "me") return "user";
  const words = kind.replaceAll("_", " ");
  return words.endsWith("s") && !words.startsWith("?") ? `list of ${words}` : words;
}

export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${tenths(seconds / 3600)} h`;
  return `${tenths(seconds / 86_400)} days`;
}

const precisions = {
  minute: { millis: 60_000, letters: 16 },
  second: { millis: 1000, letters: 19 },
} as const;

export type Step = keyof typeof precisions;

/** The zone that times for people are shown in. It belongs to the process, as its terminal does. */
let zone: "UTC" | "local" = "UTC";

export function showTimesIn(chosen: typeof zone): void {
  zone = chosen;
}

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
  return `${shown} (in ${formatDuration(Math.max(0, Date.parse(moment) - now) / 1000)})`;
}

/** @param moment ISO 8601, UTC @returns cut to the precision, such as `2026-11-24 01:47 UTC`; local time without a zone */
export function formatTime(moment: string, step: Step): string {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return moment;
  const minutesWest = zone === "UTC" ? 0 : at.getTimezoneOffset();
  const shifted = new Date(at.getTime() - minutesWest * 60_000).toISOString();
  const shown = shifted.slice(0, precisions[step].letters).replace("T", " ");
  return zone === "UTC" ? `${shown} UTC` : shown;
}

export const formatMinute = (moment: string): string => formatTime(moment, "minute");

export const formatSecond = (moment: string): string => formatTime(moment, "second");

/** @param since ISO 8601, UTC; null gives an empty text. @param now epoch milliseconds */
export function formatAge(since: string | null, now: number): string {
  return since === null ? "" : formatDuration(Math.max(0, now - Date.parse(since)) / 1000);
}

export function formatDays(days: number): string {
  return days === 1 ? "1 day" : `${days} days`;
}

/** @param windowSeconds null if it is not known */
export function formatRate(requests: number, windowSeconds: number | null): string {
  if (windowSeconds === null) return `${requests} per window`;
  const unit = unitsOfTime.find(({ seconds }) => windowSeconds % seconds === 0 && windowSeconds >= seconds);
  if (unit === undefined) return `${requests} in ${formatDuration(windowSeconds)}`;
  const count = windowSeconds / unit.seconds;
  return count === 1 ? `${requests} ${unit.one}` : `${requests} in ${count} ${unit.many}`;
}

const unitsOfTime = [
  { seconds: 86_400, one: "a day", many: "days" },
  { seconds: 3600, one: "an hour", many: "hours" },
  { seconds: 60, one: "a minute", many: "minutes" },
  { seconds: 1, one: "a second", many: "seconds" },
];

function tenths(number: number): number {
  return Math.round(number * 10) / 10;
}

/** A JSON document to print, with a line end. Characters that are unsafe on a terminal are escaped. */
export function toJsonLine(value: unknown): string {
  return escapeLines(`${toJson(value)}\n`);
}

/** For messages of commander, which quote arguments: one may be a misplaced secret. */
export function redactTokens(text: string): string {
  return hideOptionValues(text).replace(/[^\s',;:]+/g, (word) => (looksLikeToken(word) ? "[hidden]" : word));
}

/** `'--token=secret'` becomes `'--token'`. The value may contain quotes. */
function hideOptionValues(text: string): string {
  const option = /'(--[^\s'=]+)=/g;
  const end = /'(?=\n|$| is| argument)/g;
  let hidden = "";
  let from = 0;
  for (let found = option.exec(text); found !== null; found = option.exec(text)) {
    end.lastIndex = option.lastIndex;
    if (end.exec(text) === null) break;
    hidden += `${text.slice(from, found.index)}'${found[1]}'`;
    from = option.lastIndex = end.lastIndex;
  }
  return hidden + text.slice(from);
}
