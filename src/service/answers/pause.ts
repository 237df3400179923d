import type { Head } from "../wire/exchange.ts";
import { readAllowance } from "./allowance-reading.ts";
import { readRetryAfter } from "./retry-after.ts";

const refusals: readonly number[] = [403, 429, 503];

/**
 * Until when nobody should ask, by an answer that refuses: by its `Retry-After`, else, where nothing is left, by its reset.
 * @param now epoch milliseconds
 * @returns epoch milliseconds; null where the answer is no refusal or does not say
 */
export function readPause({ status, headers }: Head, now: number): number | null {
  if (!refusals.includes(status)) return null;
  const retryAt = readRetryAfter(headers["retry-after"], now);
  if (retryAt !== null) return retryAt;
  const allowance = readAllowance(headers, now);
  return allowance?.remaining === 0 ? allowance.resetAt : null;
}
