/**
 * How far a service's own figures are accepted. In: the state of a window and a reading. Out: the reading as the ledger
 * uses it, and what was learned about the service's way to report. Pure.
 */
import { dayMillis } from "../../platform/clock.ts";
import type { RateLimitHeaders } from "../../service/requests/headers.ts";
import type { Deadline, ReportedCounts, WindowState } from "./window.ts";

/**
 * Some services report as `limit` what was used of the window; limit and remaining then add up to the grant. This shows
 * when more remains than the limit, or when both change and their sum does not.
 * @returns the reading with the grant as its limit
 */
export function resolveLimit(
  state: WindowState,
  reading: RateLimitHeaders,
): { readonly state: WindowState; readonly reading: RateLimitHeaders } {
  const { limit, remaining } = reading;
  if (limit === null) return { state, reading };
  if (remaining === null)
    return { state, reading: state.isLimitUsed ? { ...reading, limit: null } : reading };
  const isLimitUsed = isUsed(state, { limit, remaining });
  return {
    state: { ...state, isLimitUsed, lastCounts: { limit, remaining } },
    reading: isLimitUsed ? { ...reading, limit: limit + remaining } : reading,
  };
}

function isUsed(
  { isLimitUsed, lastCounts: last }: WindowState,
  { limit, remaining }: ReportedCounts,
): boolean {
  if (remaining > limit) return true;
  if (last === null || last.remaining === remaining) return isLimitUsed;
  if (last.limit === limit) return false;
  return isLimitUsed || last.limit + last.remaining === limit + remaining;
}

/** No known window is longer than a month; a later end is an error. */
const maxWindowMillis = 32 * dayMillis;
/** Resets in seconds from now differ by as much within one window. */
export const sameWindowMillis = 5_000;

/** The longest wait that is accepted: a day, or twice the known window. After it, one request finds out. */
export function maxWaitMillis({ windowMillis }: Pick<WindowState, "windowMillis">): number {
  return Math.max(dayMillis, 2 * (windowMillis ?? 0));
}

/** A reported end, as far as it is plausible; null if it is past or absurd. If the clock is set back, it is at least a day away. */
export function toWindowEnd(state: WindowState, at: number | null, now: number): Deadline | null {
  if (at === null || at <= now || at - now > maxWindowMillis) return null;
  const waitMillis = Math.min(at - now, maxWaitMillis(state));
  return { at: now + waitMillis, spanMillis: Math.max(dayMillis, waitMillis) };
}

/** Two responses that report the same end make the length of the window known: one alone may be an error. */
export function learnWindow(state: WindowState, { resetAt }: RateLimitHeaders, now: number): WindowState {
  if (resetAt === null || resetAt <= now || resetAt - now > maxWindowMillis) return state;
  const { lastReset } = state;
  const isSame = lastReset !== null && Math.abs(resetAt - lastReset) <= sameWindowMillis;
  const windowMillis = isSame ? Math.max(state.windowMillis ?? 0, resetAt - now) : state.windowMillis;
  return { ...state, lastReset: resetAt, windowMillis };
}
