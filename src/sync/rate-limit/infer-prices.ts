/**
 * Whether a 304 and the root are counted. In: the state of a window and the report of an attempt. Out: what the attempt
 * spent, and the state with the prices that can be inferred. Pure.
 *
 * With a remaining count, two readings are compared between which all requests have ended: every 200 costs one, and the
 * rest is the price of the others. Without one, two windows are compared: both grant the same, so a price at which they
 * would not is wrong.
 */
import type { AttemptReport } from "../../service/requests/rate-limiter.ts";
import {
  countOpenLeases,
  type Grant,
  isUnlimited,
  type ReadingTally,
  type ResponseTally,
  type WindowState,
} from "./window.ts";

/** What one request spent of the allowance. */
export interface Spending {
  readonly min: 0 | 1;
  readonly max: 0 | 1;
  /** By what is inferred so far. */
  readonly likely: 0 | 1;
}

const free: Spending = { min: 0, max: 0, likely: 0 };
const possiblyCounted: Spending = { min: 0, max: 1, likely: 1 };
const counted: Spending = { min: 1, max: 1, likely: 1 };

export function spendingOf(state: WindowState, report: AttemptReport, isRoot: boolean): Spending {
  const { isFree304, isFreeRoot } = state;
  const { status, isRefusal, isSent } = report;
  if (!isSent || isRefusal) return free;
  // A request without a response, or with an error, may have been counted.
  if (status !== 200 && status !== 304) return possiblyCounted;
  if ((isRoot && isFreeRoot === true) || (status === 304 && isFree304 === true)) return free;
  const isCounted = (!isRoot || isFreeRoot === false) && (status === 200 || isFree304 === false);
  if (isCounted) return counted;
  // A 304 is usually free. Without a remaining count or an unlimited allowance, it is safer to count it.
  const isLikelyFree = status === 304 && (reportsRemaining(report) || isUnlimited(state));
  return isLikelyFree ? { ...possiblyCounted, likely: 0 } : possiblyCounted;
}

/** The price of a check that finds no change. */
export type CheckPrice =
  | "free"
  | "counted"
  /** Treated as counted. Checks are made as if they were free, because only they can show the price. */
  | "unknown";

export function checkPriceOf(state: WindowState): CheckPrice {
  if (state.isFree304 !== null) return state.isFree304 ? "free" : "counted";
  return state.hasRemainingHeader === false && !isUnlimited(state) ? "unknown" : "free";
}

/** Whether the response itself carries the remaining count. */
export function reportsRemaining({ allowance }: AttemptReport): boolean {
  return typeof allowance?.remaining === "number";
}

/** A response after which the window is still full was free. */
export function inferFromFullWindow(
  state: WindowState,
  { status, allowance }: AttemptReport,
  isRoot: boolean,
): WindowState {
  if (allowance === null || allowance.limit === null || allowance.remaining !== allowance.limit) return state;
  if (isRoot) return status === 200 ? { ...state, isFreeRoot: true } : state;
  return status === 304 ? with304Price(state, true) : state;
}

// Between two readings.

export function addToReadingTally(
  tally: ReadingTally | null,
  report: AttemptReport,
  isRoot: boolean,
): ReadingTally | null {
  if (tally === null) return null;
  const { status } = report;
  // A root that is not modified may be free for either reason.
  const isAmbiguous = isRoot ? status !== 200 : status !== 200 && status !== 304;
  if (isAmbiguous || reportsRemaining(report) === tally.isFromBody) return { ...tally, isConclusive: false };
  const key = isRoot ? "roots" : status === 304 ? "notModified" : "plain";
  return { ...tally, [key]: tally[key] + 1 };
}

/** @param state while no request is running and `remaining` comes from the newest response */
export function inferFromReadings(state: WindowState, remaining: number): WindowState {
  const next = { ...state, sinceReading: newTally(remaining, false) };
  const tally = state.sinceReading;
  if (tally === null || !tally.isConclusive || tally.isFromBody) return next;
  const { plain, notModified, roots } = tally;
  const othersCost = tally.remaining - remaining - plain;
  const isFree = othersCost === 0 ? true : othersCost === notModified + roots ? false : null;
  if (isFree === null) return next;
  if (notModified > 0 && roots === 0) return with304Price(next, isFree);
  return roots > 0 && notModified === 0 ? { ...next, isFreeRoot: isFree } : next;
}

/** One 304 is not enough: the reading itself is a request, which may be counted or not. */
const minNotModified = 2;

/** As `inferFromReadings`, when both readings are bodies of the `rate_limit` resource. */
export function inferFromBodies(state: WindowState, remaining: number | null): WindowState {
  if (remaining === null) return state;
  const next = { ...state, sinceReading: newTally(remaining, true) };
  const tally = state.sinceReading;
  if (tally === null || !tally.isConclusive || !tally.isFromBody) return next;
  const { plain, notModified, roots } = tally;
  const othersCost = tally.remaining - remaining - (plain - 1);
  if (roots > 0 || notModified < minNotModified) return next;
  if (othersCost === 0 || othersCost === 1) return with304Price(next, true);
  const isCounted = othersCost === notModified || othersCost === notModified + 1;
  return isCounted ? with304Price(next, false) : next;
}

function newTally(remaining: number, isFromBody: boolean): ReadingTally {
  return { remaining, plain: 0, notModified: 0, roots: 0, isFromBody, isConclusive: true };
}

/** Whether the `rate_limit` body would show the price of a 304 now, or start a comparison that can. */
export function isBodyUseful(state: WindowState): boolean {
  const { sinceReading: tally, isReported, isFree304, hasRemainingHeader } = state;
  if (!isReported || hasRemainingHeader !== false || isFree304 !== null) return false;
  return !tally?.isFromBody || !tally.isConclusive || tally.notModified >= minNotModified;
}

// Between two windows.

/**
 * @param isOfThisWindow whether the request was leased after the window began
 * @param isFirst whether no earlier request can have begun it, other than a 304
 */
export function addToResponseTally(
  tally: ResponseTally,
  report: AttemptReport,
  { isRoot, isOfThisWindow, isFirst }: Record<"isRoot" | "isOfThisWindow" | "isFirst", boolean>,
): ResponseTally {
  const { status, isRefusal, isSent } = report;
  if (!isSent || isRefusal) return tally;
  if (isRoot || !isOfThisWindow || (status !== 200 && status !== 304))
    return { ...tally, others: tally.others + 1 };
  if (status === 304)
    return reportsRemaining(report) ? tally : { ...tally, notModified: tally.notModified + 1 };
  const isStartKnown = tally.plain === 0 ? isFirst && tally.notModified === 0 : tally.isStartKnown;
  return { ...tally, plain: tally.plain + 1, isStartKnown };
}

/** @param isRefused whether the last response refused for the first time in this window */
export function inferFromGrants(state: WindowState, isRefused: boolean): WindowState {
  const { granted, responses, plainBefore } = state;
  if (granted === null || state.isReported) return state;
  const others = responses.others + countOpenLeases(state);
  const now = { ...responses, others, isExhausted: isRefused };
  const isNotFree = isContradiction(granted, { ...now, others: others + plainBefore }, 0);
  const isNotCounted = isContradiction(granted, now, 1);
  // If neither price explains it, the limit has changed.
  return isNotFree === isNotCounted ? state : with304Price(state, isNotCounted);
}

/** The grant to which the following windows are compared, when this one ends. */
export function grantOf(state: WindowState): Grant | null {
  const { granted, responses, isRefused, isReported } = state;
  if (isReported || !isAligned(state)) return granted;
  const isMore = granted === null || (!granted.isExhausted && successesOf(responses) > successesOf(granted));
  return isRefused || isMore ? { ...responses, isExhausted: isRefused } : granted;
}

/**
 * Whether this window is one window of the service's, whatever a 304 costs. A window that began with a free request ends
 * before the service's does, which then reaches into the next one.
 */
export function isAligned({ responses, overlapsUntil }: WindowState): boolean {
  return responses.isStartKnown && overlapsUntil === null;
}

/** Whether two windows cannot have granted the same at this price of a 304. */
function isContradiction(a: Grant, b: Grant, price: 0 | 1): boolean {
  const min = ({ plain, notModified }: ResponseTally) => plain + price * notModified;
  const max = (grant: Grant) => (grant.isExhausted ? min(grant) + grant.others : Number.POSITIVE_INFINITY);
  return min(a) > max(b) || min(b) > max(a);
}

function successesOf({ plain, notModified }: ResponseTally): number {
  return plain + notModified;
}

/** Sets the price of a 304, also for those that this window has counted already. */
function with304Price(state: WindowState, isFree304: boolean): WindowState {
  if (state.isFree304 === isFree304) return state;
  const { counted, responses, limit, confirmedLimit } = state;
  const before = priceRange(state.isFree304);
  const after = priceRange(isFree304);
  return {
    ...state,
    isFree304,
    counted: {
      min: Math.max(0, counted.min + (after.min - before.min) * responses.notModified),
      max: Math.max(0, counted.max + (after.max - before.max) * responses.notModified),
    },
    limit: isFree304 ? (confirmedLimit ?? limit) : limit,
    confirmedLimit: isFree304 || confirmedLimit === null ? confirmedLimit : limit,
  };
}

function priceRange(isFree304: boolean | null): Spending {
  if (isFree304 === null) return possiblyCounted;
  return isFree304 ? free : counted;
}
