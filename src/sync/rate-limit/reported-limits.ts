/**
 * How far a service's own figures are accepted. In: the state of a window and a reading. Out: the reading as the ledger
 * uses it, and what was learned about the service's way to report. Pure.
 */
import { dayMillis } from "../../platform/clock.ts";
import { minWindowMillis, pauseUntil, type RateLimitHeaders } from "../../service/requests/headers.ts";
import type { AttemptReport } from "../../service/requests/rate-limiter.ts";
import { defaultRetryPolicy } from "../../service/requests/retry-policy.ts";
import { type Deadline, emptyWindow, type ReportedCounts, type WindowState } from "./window.ts";

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
const sameWindowMillis = 5_000;

/** The longest wait that is accepted: a day, or twice the known window. After it, one request finds out. */
export function maxWaitMillis({ ends }: Pick<WindowState, "ends">): number {
  return Math.max(dayMillis, 2 * (ends.atLeast ?? 0));
}

/** A reported end, as far as it is plausible; null if it is past or absurd. If the clock is set back, it is at least a day away. */
export function toWindowEnd(state: WindowState, at: number | null, now: number): Deadline | null {
  if (at === null || at <= now || at - now > maxWindowMillis) return null;
  const waitMillis = Math.min(at - now, maxWaitMillis(state));
  return { at: now + waitMillis, spanMillis: Math.max(dayMillis, waitMillis) };
}

/**
 * The `Retry-After` of a 403 or 429 concerns the whole service, that of a 503 only one resource. What a long one concerns
 * may be found out first.
 */
export function laterBlock(
  state: WindowState,
  { status, retryAt, allowance, isUnexplained }: AttemptReport,
  now: number,
): Deadline | null {
  const ofRefusal = status === 403 || status === 429 ? (retryAt ?? 0) : 0;
  const isLong = ofRefusal - now > defaultRetryPolicy.maxRetryAfterMillis;
  const until = Math.max(isUnexplained && isLong ? 0 : ofRefusal, pauseUntil(allowance) ?? 0);
  return blockUntil(state, until, now);
}

export function blockUntil(state: WindowState, until: number, now: number): Deadline | null {
  const { blockedUntil: known } = state;
  if (until <= now) return known;
  const at = Math.min(until, now + maxWaitMillis(state));
  return known !== null && known.at >= at ? known : { at, spanMillis: at - now };
}

/**
 * A reset in seconds from now is late by as long as its response took. So an earlier end may be a better reading of the same
 * window: if it is nearer to the end of this window than to its beginning.
 */
export function isOfEarlierWindow(
  { resetAt: end, startedBy }: WindowState,
  reading: RateLimitHeaders | null,
  now: number,
): boolean {
  if (reading === null || reading.resetAt === null) return false;
  if (hasEnded(reading, now)) return true;
  if (end === null) return false;
  const isNearEnd = startedBy !== null && end.at - reading.resetAt < reading.resetAt - startedBy;
  return reading.resetAt < end.at - sameWindowMillis && !isNearEnd;
}

/** The same for a refusal of a request that was sent before this window began. One that reports a later end concerns this window. */
export function refusesEarlierWindow(
  state: WindowState,
  reading: RateLimitHeaders | null,
  now: number,
): boolean {
  if (state.remaining !== null) return isOfEarlierWindow(state, reading, now);
  return reading === null || reading.resetAt === null || hasEnded(reading, now);
}

/** Whether the reported window has ended by its own end. */
export function hasEnded({ resetAt }: RateLimitHeaders, now: number): boolean {
  return resetAt !== null && resetAt <= now;
}

/**
 * A counted request begins a window, so its response reports the current one. Other responses may report the last window
 * until then; one request at a time finds out what remains.
 * @returns null if the reading does not concern this window
 */
export function applyReading(
  state: WindowState,
  reading: RateLimitHeaders,
  leaseSeq: number,
  isCounted: boolean,
  now: number,
): WindowState | null {
  const { limit, remaining } = reading;
  const isLater = leaseSeq > state.readingSeq;
  if (remaining === null) return null;
  if (!isCounted && hasEnded(reading, now)) {
    if (state.remaining === null) return { ...state, isReported: true, hasResponse: false };
    if (state.resetAt !== null) return null;
  }
  if (!isLater && isOfEarlierWindow(state, reading, now)) return null;
  const resetAt = toWindowEnd(state, reading.resetAt, now);
  return {
    ...state,
    isReported: true,
    hasResponse: true,
    readingSeq: state.seq,
    remaining: isLater ? remaining : Math.min(remaining, state.remaining ?? remaining),
    limit: (isLater ? limit : null) ?? state.limit ?? limit,
    resetAt: isLater ? (resetAt ?? state.resetAt) : laterOf(state.resetAt, resetAt),
    unreported: leaseSeq > state.unreported.seq ? emptyWindow.unreported : state.unreported,
  };
}

function laterOf(known: Deadline | null, other: Deadline | null): Deadline | null {
  return other === null || (known !== null && known.at >= other.at) ? known : other;
}

/**
 * What remains in the short window after a response. A clock that was set back makes its end seem far away.
 * @param spent how many requests the response stands for, where it does not report the window
 */
export function applyShort(
  state: WindowState,
  { allowance }: AttemptReport,
  leaseSeq: number,
  spent: number,
): WindowState {
  const { short: known, seq } = state;
  const isLater = known === null || leaseSeq > known.readingSeq;
  if (allowance?.short !== undefined) {
    const { remaining, resetAt } = allowance.short;
    if (isLater) return { ...state, short: { remaining, resetAt, readingSeq: seq } };
    // One that was overtaken may be of the window before.
    if (known.resetAt === null) return state;
    const short = { ...known, remaining: Math.min(remaining, known.remaining), readingSeq: seq };
    return { ...state, short: { ...short, resetAt: Math.max(resetAt, known.resetAt) } };
  }
  if (known === null) return state;
  if (known.resetAt !== null) return { ...state, short: { ...known, remaining: known.remaining - spent } };
  // A response that reports the longer window alone shows that there is no short one any more; one without fields shows nothing.
  return isLater && typeof allowance?.remaining === "number" ? { ...state, short: null } : state;
}

export function withoutEndedShort(state: WindowState, now: number): WindowState {
  const { short } = state;
  if (short === null || short.resetAt === null) return state;
  if (short.resetAt > now && short.resetAt - now <= minWindowMillis) return state;
  const seq = state.seq + 1;
  return { ...state, seq, short: { remaining: 1, resetAt: null, readingSeq: seq } };
}

/** Two responses that report the same end show how long windows are: one alone may be an error. */
export function learnWindow(state: WindowState, { resetAt }: RateLimitHeaders, now: number): WindowState {
  if (resetAt === null || resetAt <= now || resetAt - now > maxWindowMillis) return state;
  const { lastReset, last, atLeast, atMost } = state.ends;
  const isSame = lastReset !== null && Math.abs(resetAt - lastReset) <= sameWindowMillis;
  if (!isSame) return { ...state, ends: { ...state.ends, lastReset: resetAt } };
  const isNext = last !== null && resetAt - last > sameWindowMillis;
  const ends = {
    lastReset: resetAt,
    last: last === null || isNext ? resetAt : last,
    atLeast: Math.max(atLeast ?? 0, resetAt - now),
    atMost: isNext ? Math.min(atMost ?? Number.POSITIVE_INFINITY, resetAt - last) : atMost,
  };
  return { ...state, ends };
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const usualLengths = [
  ...[1, 5, 10, 15, 20, 30, minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 4 * hour, 6 * hour, 8 * hour, 12 * hour, day, 7 * day, 30 * day],
];

/**
 * The length of windows in seconds: the usual length that the reported ends agree with, else null. If nothing is reported, a
 * day is assumed. A window that is first seen near its end looks shorter than it is. So a length below a day counts only
 * after two ends less than a day apart.
 */
export function windowSecondsOf({ ends: { atLeast, atMost }, isReported }: WindowState): number | null {
  if (atLeast === null) return isReported ? null : day;
  const min = (0.98 * atLeast) / 1000;
  const max = (1.02 * Math.max(atLeast, atMost ?? 0)) / 1000;
  const length = usualLengths.find((seconds) => seconds >= min && seconds <= max) ?? null;
  const isProven = atMost !== null && atMost < dayMillis;
  return length === null || length >= day || isProven ? length : null;
}
