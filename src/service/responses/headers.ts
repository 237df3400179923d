import type { IncomingHttpHeaders } from "node:http";
import type { ResponseHead } from "../transport/send-request.ts";

/** What the service says of the allowance in one answer; a field that makes no sense is null. */
export interface RateLimitHeaders {
  /** Requests a window. */
  readonly limit: number | null;
  /** Requests left in this window. */
  readonly remaining: number | null;
  /** Epoch milliseconds at which the window ends. */
  readonly resetAt: number | null;
}

const year = 366 * 24 * 3600;
const firstEpochSecond = 1e9; // September 2001: no smaller number is meant as a date
const lastEpochSecond = 1e11;

/** Reads `X-RateLimit-Limit`, `-Remaining` and `-Reset`; null when none of them is there. `now` is in epoch milliseconds. */
export function readRateLimitHeaders(headers: IncomingHttpHeaders, now: number): RateLimitHeaders | null {
  const limit = headers["x-ratelimit-limit"];
  const remaining = headers["x-ratelimit-remaining"];
  const reset = headers["x-ratelimit-reset"];
  if (limit === undefined && remaining === undefined && reset === undefined) return null;
  return { limit: readCount(limit), remaining: readCount(remaining), resetAt: readReset(reset, now) };
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

/** An `ETag` that can be sent back as it is, weak or strong, quoted or (as some services do) not; else null. */
export function readEntityTag(value: string | string[] | null | undefined): string | null {
  return typeof value === "string" && /^[\x21-\x7e][\x20-\x7e]{0,1022}$/.test(value) ? value : null;
}

/** Whether two tags name the same content; RFC 9110 compares weakly for `If-None-Match`. */
export function isSameEntity(one: string, other: string): boolean {
  return one.replace(/^W\//, "") === other.replace(/^W\//, "");
}

const yearMillis = 366 * 24 * 3600 * 1000;

/** The three forms of a date that HTTP knows (RFC 9110, section 5.6.7), the last one without its zone, which is UTC. */
const zonedDate =
  /^(?:[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4}|[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d) \d\d:\d\d:\d\d GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * Reads `Retry-After`: the epoch milliseconds before which not to ask again, or null when it says nothing usable. A
 * moment in the past is now, one beyond a year is in a year, and of several headers the latest moment counts.
 */
export function readRetryAfter(value: string | string[] | undefined, now: number): number | null {
  if (value === undefined) return null;
  const moments = [value].flat().map((text) => readMoment(text.trim(), now));
  const latest = Math.max(...moments.filter((moment) => moment !== null));
  return latest === -Infinity ? null : Math.min(Math.max(latest, now), now + yearMillis);
}

function readMoment(text: string, now: number): number | null {
  // Digits first: `Date.parse("120")` is a day in the year 120.
  if (/^\d+$/.test(text)) return now + Number(text) * 1000;
  const date = zonedDate.test(text) ? text : asctimeDate.test(text) ? `${text} GMT` : "";
  const moment = Date.parse(date);
  return Number.isNaN(moment) ? null : moment;
}

const refusals: readonly number[] = [403, 429, 503];

/**
 * Until when nobody should ask, by an answer that refuses: by its `Retry-After`, else, where nothing is left, by its reset.
 * @param now epoch milliseconds
 * @returns epoch milliseconds; null where the answer is no refusal or does not say
 */
export function readBackoffUntil({ status, headers }: ResponseHead, now: number): number | null {
  if (!refusals.includes(status)) return null;
  const retryAt = readRetryAfter(headers["retry-after"], now);
  if (retryAt !== null) return retryAt;
  const allowance = readRateLimitHeaders(headers, now);
  return allowance?.remaining === 0 ? allowance.resetAt : null;
}
