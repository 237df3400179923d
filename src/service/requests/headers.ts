import type { IncomingHttpHeaders } from "node:http";
import type { ResponseHead } from "../transport/send-request.ts";
import { hasStructuredRateLimit, readStructuredRateLimit } from "./structured-rate-limit.ts";

/** The rate limit in the headers of one response; a field that cannot be read is null. */
export interface RateLimitHeaders {
  /** Requests per window. */
  readonly limit: number | null;
  /** Requests left in this window. */
  readonly remaining: number | null;
  /** Epoch milliseconds at which the window ends. */
  readonly resetAt: number | null;
}

const year = 366 * 24 * 3600;
/** September 2001: smaller numbers are durations, not dates. */
const firstEpochSecond = 1e9;
const lastEpochSecond = 1e11;

/** The fields of a family share a prefix; the second one is of earlier drafts of the IETF's. */
const prefixes = ["x-ratelimit", "ratelimit"] as const;

/** The names of all fields that `readRateLimitHeaders` reads. */
export const rateLimitFields: readonly string[] = [
  ...prefixes.flatMap((prefix) => [`${prefix}-limit`, `${prefix}-remaining`, `${prefix}-reset`]),
  "ratelimit",
  "ratelimit-policy",
];

/**
 * Reads `X-RateLimit-Limit`, `-Remaining` and `-Reset`, or `RateLimit-Limit`, `-Remaining` and `-Reset`, or `RateLimit` and
 * `RateLimit-Policy`: the first of these that has a remaining count. Null if all are missing.
 * @param now epoch milliseconds
 */
export function readRateLimitHeaders(headers: IncomingHttpHeaders, now: number): RateLimitHeaders | null {
  const readings: RateLimitHeaders[] = [];
  for (const prefix of prefixes) {
    const reading = readFamily(headers, prefix, now);
    if (reading?.remaining != null) return reading;
    if (reading !== null) readings.push(reading);
  }
  if (hasStructuredRateLimit(headers)) {
    const { resetSeconds, ...counts } = readStructuredRateLimit(headers);
    const reading = { ...counts, resetAt: resetSeconds === null ? null : now + resetSeconds * 1000 };
    if (reading.remaining !== null) return reading;
    readings.push(reading);
  }
  return readings[0] ?? null;
}

function readFamily(
  headers: IncomingHttpHeaders,
  prefix: (typeof prefixes)[number],
  now: number,
): RateLimitHeaders | null {
  const limit = headers[`${prefix}-limit`];
  const remaining = headers[`${prefix}-remaining`];
  const reset = headers[`${prefix}-reset`];
  if (limit === undefined && remaining === undefined && reset === undefined) return null;
  return { limit: readLimit(limit), remaining: readCount(remaining), resetAt: readReset(reset, now) };
}

/** A limit may be followed by the policies that it comes from: `100, 100;w=86400`. */
function readLimit(value: string | string[] | undefined): number | null {
  return typeof value === "string" ? readCount(value.split(/[,;]/, 1)[0]?.trim()) : null;
}

function readReset(value: string | string[] | undefined, now: number): number | null {
  const seconds = readCount(value);
  if (seconds === null || seconds >= lastEpochSecond) return null;
  if (seconds >= firstEpochSecond) return seconds * 1000;
  return seconds <= year ? now + seconds * 1000 : null;
}

function readCount(value: string | string[] | undefined): number | null {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/** An `ETag` that can be sent back, weak or strong, also without quotes, as some services write it; else null. */
export function readEntityTag(value: string | string[] | null | undefined): string | null {
  return typeof value === "string" && /^[\x21-\x7e][\x20-\x7e]{0,1022}$/.test(value) ? value : null;
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
  const date = zonedDate.test(text) ? text : asctimeDate.test(text) ? `${text} GMT` : "";
  const time = Date.parse(date);
  return Number.isNaN(time) ? null : time;
}

const refusals: readonly number[] = [403, 429, 503];

/** The longest wait accepted here. The ledger, which knows the service's window, may accept a longer one. */
const maxBackoffMillis = 24 * 3600 * 1000;

/**
 * When to retry after a refusal: `Retry-After`, else the reset of a spent rate limit, but at most a day later.
 * @param now epoch milliseconds
 * @returns epoch milliseconds; null without a refusal or a time
 */
export function readBackoffUntil({ status, headers }: ResponseHead, now: number): number | null {
  if (!refusals.includes(status)) return null;
  const allowance = readRateLimitHeaders(headers, now);
  const until =
    readRetryAfter(headers["retry-after"], now) ?? (allowance?.remaining === 0 ? allowance.resetAt : null);
  return until === null ? null : Math.min(until, now + maxBackoffMillis);
}
