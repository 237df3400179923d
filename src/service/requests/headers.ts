import type { IncomingHttpHeaders } from "node:http";
import { toIso } from "../../platform/clock.ts";
import type { KeptHeaders } from "../fetch-result.ts";
import type { ResponseHead } from "../transport/send-request.ts";
import { readCount, readRest, readStructuredRateLimit } from "./structured-rate-limit.ts";

/** The rate limit in the headers of one response; a field that cannot be read is null. */
export interface RateLimitHeaders {
  /** Requests per window. */
  readonly limit: number | null;
  /** Requests left in this window. */
  readonly remaining: number | null;
  /** Epoch milliseconds at which the window ends. */
  readonly resetAt: number | null;
  /** The shorter window with the fewest requests left; absent without one. */
  readonly short?: { readonly remaining: number; readonly resetAt: number };
}

const year = 366 * 24 * 3600;
/** September 2001: smaller numbers are durations, not dates. */
const firstEpochSecond = 1e9;
const lastEpochSecond = 1e11;

/** The fields of a family share a prefix; the last one is of earlier drafts of the IETF's. */
const prefixes = ["x-ratelimit", "x-rate-limit", "ratelimit"] as const;

/** Kong has fields for each window of the UTC clock, such as `X-RateLimit-Remaining-Day`. In seconds; null if lengths differ. */
const windows = ["second", "minute", "hour", "day", "month", "year"] as const;
const windowSeconds = { second: 1, minute: 60, hour: 3600, day: 86_400, month: null, year: null } as const;

/** What is counted, or by whom; other words, such as `tokens`, count something else than requests. */
const words = ["requests", "global", ...windows] as const;

/** A word may stand before the name or behind it: `-Day-Remaining`, `-Remaining-Day`. */
const families = prefixes.flatMap((prefix) => [
  familyOf((name) => `${prefix}-${name}`, null),
  ...words.flatMap((word) => [
    familyOf((name) => `${prefix}-${name}-${word}`, word),
    familyOf((name) => `${prefix}-${word}-${name}`, word),
  ]),
]);

type Family = ReturnType<typeof familyOf>;

/** By the name of each field. */
const familyOfField = new Map(
  families.flatMap((family) =>
    [family.limit, family.remaining, family.used, family.reset].map((field) => [field, family] as const),
  ),
);

/** In their order. Most responses have fields of one family, and to look up those of all 51 would slow a crawl. */
function familiesIn(headers: IncomingHttpHeaders): readonly Family[] {
  const found = new Set<Family>();
  for (const field of Object.keys(headers)) {
    const family = familyOfField.get(field);
    if (family !== undefined) found.add(family);
  }
  return found.size < 2 ? [...found] : families.filter((family) => found.has(family));
}

function familyOf(nameOf: (name: string) => string, word: (typeof words)[number] | null) {
  return {
    limit: nameOf("limit"),
    remaining: nameOf("remaining"),
    used: nameOf("used"),
    reset: nameOf("reset"),
    word,
  };
}

type Header = string | string[] | undefined;

/** The names of all fields that `readRateLimitHeaders` reads. */
export const rateLimitFields: readonly string[] = [...familyOfField.keys(), "ratelimit", "ratelimit-policy"];

/**
 * Reads `X-RateLimit-Limit`, `-Remaining` (or `-Used`) and `-Reset`, the same with `X-Rate-Limit` and `RateLimit`, each also
 * with a window, such as `-Day`, `-Requests` or `-Global`, and the fields `RateLimit` and `RateLimit-Policy`. If they disagree, the lowest
 * remaining count holds, until its latest reset. The values of a field that is sent several times, or joined by commas, belong
 * to one window each if another field has as many; a window that lasts up to a minute is waited for. Null if all are missing.
 * @param now epoch milliseconds
 */
export function readRateLimitHeaders(headers: IncomingHttpHeaders, now: number): RateLimitHeaders | null {
  const counts = familiesIn(headers).flatMap((family) => readFamily(headers, family, now));
  const quotas = readStructuredRateLimit(headers).map(({ resetSeconds, ...counts }) => {
    return { ...counts, resetAt: resetSeconds === null ? null : now + resetSeconds * 1000 };
  });
  const readings = [...counts, ...quotas];
  return chooseReading(readings, now) ?? readings[0] ?? null;
}

/** Shorter windows are waited for; they say nothing about how many requests a run may send. */
export const minWindowMillis = 60_000;

/** The ledger keeps one window: the one with the fewest requests left, among those that last longer than a wait. */
function chooseReading(readings: readonly RateLimitHeaders[], now: number): RateLimitHeaders | null {
  const counted = readings.filter(({ remaining }) => remaining !== null);
  const isShort = ({ resetAt }: RateLimitHeaders) => resetAt !== null && resetAt - now <= minWindowMillis;
  const long = counted.filter((reading) => !isShort(reading));
  const usable = long.length > 0 ? long : counted;
  const remaining = lowest(usable.map((reading) => reading.remaining));
  const least = usable.filter((reading) => reading.remaining === remaining);
  if (remaining === null) return null;
  const short = usable === long ? counted.filter((one) => isShort(one) && (one.resetAt ?? 0) > now) : [];
  const rest = lowest(short.map((reading) => reading.remaining));
  const end = highest(short.map((reading) => (reading.remaining === rest ? reading.resetAt : null)));
  return {
    limit: least.find(({ limit }) => limit !== null)?.limit ?? null,
    remaining,
    resetAt: highest(least.map(({ resetAt }) => resetAt)),
    ...(rest !== null && end !== null && { short: { remaining: rest, resetAt: end } }),
  };
}

/** The end of a short window in which nothing remains, in epoch milliseconds; null without one. */
export const pauseUntil = (allowance: RateLimitHeaders | null): number | null =>
  allowance?.short?.remaining === 0 ? allowance.short.resetAt : null;

/** Several readings if each field states as many values: those of one window each, in the same order. */
function readFamily(headers: IncomingHttpHeaders, family: Family, now: number): RateLimitHeaders[] {
  const limit = headers[family.limit];
  const remaining = headers[family.remaining] ?? readUnused(limit, headers[family.used]);
  const reset = headers[family.reset];
  if (remaining === undefined && (family.word !== null || (limit ?? reset) === undefined)) return [];
  // A limit may be followed by the policies that it comes from: `100, 100;w=86400`.
  const limits = [limit ?? []].flat().map((text) => readCount(text.split(/[,;]/, 1)[0]));
  const isLimited = limits.some((one) => one !== null);
  const rests = valuesOf(remaining).map((text) => readRest(text, isLimited));
  const resets =
    reset === undefined
      ? [endOfWindow(family, headers, now)]
      : valuesOf(reset).map((text) => readReset(text, now));
  const isOfWindows =
    rests.length > 1 && rests.length === resets.length && ![...rests, ...resets].includes(null);
  if (!isOfWindows) return [{ limit: lowest(limits), remaining: lowest(rests), resetAt: highest(resets) }];
  const all = valuesOf(limit).map(readCount);
  return rests.map((rest, n) => ({
    limit:
      all.length === rests.length
        ? (all[n] ?? null)
        : lowest(limits.filter((one) => (one ?? 0) >= (rest ?? 0))),
    remaining: rest,
    resetAt: resets[n] ?? null,
  }));
}

/** By the service's clock, to the next second. */
function endOfWindow({ word }: Family, headers: IncomingHttpHeaders, now: number): number | null {
  const window = windows.find((one) => one === word);
  const seconds = window === undefined ? null : windowSeconds[window];
  if (seconds === null) return null;
  return now + seconds * 1000 - ((readDate(headers.date ?? "") ?? now) % (seconds * 1000));
}

/** What remains, where a service states what was used instead. */
function readUnused(limit: Header, used: Header): string | undefined {
  const countsIn = (texts: readonly string[]) => texts.map((text) => readRest(text, false));
  // The first value is the limit that holds; policies may follow it.
  const granted = lowest(countsIn([limit ?? []].flat().map((text) => text.split(",", 1)[0] ?? "")));
  const spent = highest(countsIn(valuesOf(used)));
  return granted === null || spent === null ? undefined : `${Math.max(0, granted - spent)}`;
}

/** A field that is sent twice arrives as an array, or joined by a proxy. */
function valuesOf(header: Header): string[] {
  return [header ?? []].flat().flatMap((text) => text.split(","));
}

const lowest = (values: readonly (number | null)[]): number | null => sorted(values)[0] ?? null;
const highest = (values: readonly (number | null)[]): number | null => sorted(values).at(-1) ?? null;

function sorted(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null).sort((a, b) => a - b);
}

function readReset(text: string, now: number): number | null {
  const seconds = readCount(text);
  if (seconds === null || seconds >= lastEpochSecond) return null;
  if (seconds >= firstEpochSecond) return seconds * 1000;
  return seconds <= year ? now + seconds * 1000 : null;
}

/**
 * An `ETag` that can be sent back, weak or strong, also without quotes, as some services write it; else null. `*`, and a list
 * of tags, would match other contents too.
 */
export function readEntityTag(value: string | string[] | null | undefined): string | null {
  if (typeof value !== "string" || isModificationTime(value)) return null;
  return entityTag.test(value) || bareTag.test(value) ? value : null;
}

const entityTag = /^(?:W\/)?"[\x20\x21\x23-\x7e]{0,1020}"$/;
const bareTag = /^(?!\*$)[\x21\x23-\x2b\x2d-\x7e]{1,1023}$/;

/** Within less time, a body may change again without a later `Last-Modified` (RFC 9110, section 8.8.2.2). */
const minValidatorAgeMillis = 60_000;

/** The validator of a response: its `ETag`, or without one its `Last-Modified`, if it was sent a minute later at least. */
export function readValidator(headers: IncomingHttpHeaders): string | null {
  const tag = readEntityTag(headers.etag);
  if (tag !== null || headers.etag !== undefined) return tag;
  const [sentAt, modifiedAt] = [headers.date, headers["last-modified"]].map((text) => readDate(text ?? ""));
  if (sentAt == null || modifiedAt == null || sentAt - modifiedAt < minValidatorAgeMillis) return null;
  return new Date(modifiedAt).toUTCString();
}

/** Whether a validator is a `Last-Modified`, and no tag. */
export function isModificationTime(validator: string): boolean {
  return /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(validator);
}

/** A stored validator that can be sent; else null. */
export function readHeldValidator(value: string | null | undefined): string | null {
  return typeof value === "string" && isModificationTime(value) ? value : readEntityTag(value);
}

/** Whether two tags name the same content; RFC 9110 compares weakly for `If-None-Match`. */
export function isSameEntity(a: string, b: string): boolean {
  return a.replace(/^W\//, "") === b.replace(/^W\//, "");
}

/** The three forms of an HTTP date (RFC 9110, section 5.6.7). The last one names no zone; it is UTC. */
const zonedDate =
  /^(?:[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4}|[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d) \d\d:\d\d:\d\d GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * Reads `Retry-After`; of several headers the latest time counts.
 * @param now epoch milliseconds
 * @returns epoch milliseconds, from `now` to a year later; null if it cannot be read
 */
export function readRetryAfter(value: string | string[] | undefined, now: number): number | null {
  if (value === undefined) return null;
  const times = [value].flat().map((text) => readTime(text.trim(), now));
  const latest = Math.max(...times.filter((time) => time !== null));
  return latest === -Infinity ? null : Math.min(Math.max(latest, now), now + year * 1000);
}

function readTime(text: string, now: number): number | null {
  // Digits first: `Date.parse("120")` is a day in the year 120.
  if (/^\d+$/.test(text)) return now + Number(text) * 1000;
  return readDate(text);
}

/** Epoch milliseconds; null if it is no HTTP date. */
function readDate(text: string): number | null {
  const date = zonedDate.test(text) ? text : asctimeDate.test(text) ? `${text} GMT` : "";
  const time = Date.parse(date);
  return Number.isNaN(time) ? null : time;
}

export function readKeptHeaders(headers: IncomingHttpHeaders): KeptHeaders {
  const timeOf = (text: string | undefined) => {
    const time = text === undefined ? null : readDate(text);
    return time === null ? null : toIso(time);
  };
  return {
    sentAt: timeOf(headers.date),
    modifiedAt: timeOf(headers["last-modified"]),
    contentType: headers["content-type"] ?? null,
    link: textOf(headers.link),
  };
}

function textOf(value: string | string[] | undefined): string | null {
  return value === undefined ? null : [value].flat().join(", ");
}

/** A 503 concerns one resource. */
const refusals: readonly number[] = [403, 429];

/**
 * Whether a refusal asks to wait longer than a minute, without a spent rate limit: it may concern one resource only.
 * @param now epoch milliseconds
 */
export function mayConcernOneResource({ status, headers }: ResponseHead, now: number): boolean {
  if (!refusals.includes(status) || readRateLimitHeaders(headers, now)?.remaining === 0) return false;
  return (readRetryAfter(headers["retry-after"], now) ?? 0) - now > minWindowMillis;
}

/** The longest wait accepted here. The ledger, which knows the service's window, may accept a longer one. */
const maxBackoffMillis = 24 * 3600 * 1000;

/**
 * When to send the next request: after a refusal, `Retry-After`, else the reset of a spent rate limit, but at most a day
 * later; after any other response, the end of a spent short window.
 * @param now epoch milliseconds
 * @returns epoch milliseconds; null without such a time
 */
export function readBackoffUntil({ status, headers }: ResponseHead, now: number): number | null {
  const allowance = readRateLimitHeaders(headers, now);
  const pause = pauseUntil(allowance);
  if (!refusals.includes(status)) return pause;
  const resetAt = allowance?.remaining === 0 ? allowance.resetAt : null;
  const until = readRetryAfter(headers["retry-after"], now) ?? resetAt ?? pause;
  return until === null ? null : Math.min(until, now + maxBackoffMillis);
}
