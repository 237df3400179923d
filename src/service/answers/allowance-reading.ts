import type { IncomingHttpHeaders } from "node:http";

/** What the service says of the allowance in one answer; a field that makes no sense is null. */
export interface AllowanceReading {
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
export function readAllowance(headers: IncomingHttpHeaders, now: number): AllowanceReading | null {
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
