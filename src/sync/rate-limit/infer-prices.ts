/**
 * Whether a 304 and the root cost anything is learned by comparing what remains before and after: between two moments at
 * which nothing was under way, every plain answer costs one, and what else was spent is the price of the others.
 */
import type { AttemptReport } from "../../service/requests/rate-limiter.ts";
import { isUnlimited, openLeases, type WindowState } from "./window.ts";

export interface Tally {
  /** What remained when it began. */
  readonly remaining: number;
  readonly plain: number;
  readonly notModified: number;
  readonly roots: number;
  /** Whether a body told what remained, as it does where answers do not. */
  readonly isFromBody: boolean;
  /** Whether all that happened since is of these three sorts, and told what remained unless a body does. */
  readonly isClear: boolean;
}

const emptyWindowTally = { plain: 0, notModified: 0, roots: 0, isFromBody: false, isClear: true };

/** So many 304s differ from the one request that asks what remains. */
const enoughToTell = 2;

/** Whether reading what remains in a body now either shows what a 304 costs, or is what later readings are compared to. */
export function isBodyOfUse({ tally, isTold, isFree304, isTelling }: WindowState): boolean {
  if (!isTold || isTelling !== false || isFree304 !== null) return false;
  return !tally?.isFromBody || !tally.isClear || tally.notModified >= enoughToTell;
}

export function countIn(tally: Tally | null, report: AttemptReport, isRoot: boolean): Tally | null {
  if (tally === null) return null;
  const { status } = report;
  // A root that is not modified may be free for either reason.
  const isUnclear = isRoot ? status !== 200 : status !== 200 && status !== 304;
  if (isUnclear || reportsRemaining(report) === tally.isFromBody) return { ...tally, isClear: false };
  const sort = isRoot ? "roots" : status === 304 ? "notModified" : "plain";
  return { ...tally, [sort]: tally[sort] + 1 };
}

/** An answer after which nothing of the window is spent yet was free. */
export function learnWhenFull(
  state: WindowState,
  { status, allowance }: AttemptReport,
  isRoot: boolean,
): WindowState {
  if (allowance === null || allowance.limit === null || allowance.remaining !== allowance.limit) return state;
  if (isRoot) return status === 200 ? { ...state, isFreeRoot: true } : state;
  return status === 304 ? withPrice(state, true) : state;
}

/** @param state at a moment at which nothing is under way and `remaining` was told by the newest answer */
export function learnWhatIsFree(state: WindowState, remaining: number): WindowState {
  const next = { ...state, tally: { ...emptyWindowTally, remaining } };
  if (state.tally === null || !state.tally.isClear || state.tally.isFromBody) return next;
  const { plain, notModified, roots } = state.tally;
  const others = state.tally.remaining - remaining - plain;
  const isFree = others === 0 ? true : others === notModified + roots ? false : null;
  if (isFree === null) return next;
  if (notModified > 0 && roots === 0) return withPrice(next, isFree);
  return roots > 0 && notModified === 0 ? { ...next, isFreeRoot: isFree } : next;
}

/**
 * The same by two readings of the `rate_limit` body. The second one was a request itself, which need not be counted, so that
 * a single 304 shows nothing.
 * @param state at a moment at which nothing is under way and that body has just said what remains
 */
export function learnFromBodies(state: WindowState, remaining: number): WindowState {
  const next = { ...state, tally: { ...emptyWindowTally, isFromBody: true, remaining } };
  if (state.tally === null || !state.tally.isClear || !state.tally.isFromBody) return next;
  const { plain, notModified, roots } = state.tally;
  const others = state.tally.remaining - remaining - (plain - 1);
  if (roots > 0 || notModified < enoughToTell) return next;
  if (others === 0 || others === 1) return withPrice(next, true);
  return others === notModified || others === notModified + 1 ? withPrice(next, false) : next;
}

/**
 * What a 304 costs where no answer tells what remains: windows grant the same, so the price at which this one grants
 * another number than an earlier one is wrong. In: what both were asked for. Out: the price that is left. Pure.
 */

/** @param state after an answer; `isRefused` where that was a refusal */
export function learnFromGrants(state: WindowState, isRefused: boolean): WindowState {
  const { granted, sorts, plainBefore } = state;
  if (granted === null || state.isTold) return state;
  const others = sorts.others + openLeases(state);
  const now = { ...sorts, others, isAll: isRefused };
  const isNotFree = differ(granted, { ...now, others: others + plainBefore }, 0);
  const isNotCounted = differ(granted, now, 1);
  // Where neither price explains it, it is the limit that has changed.
  return isNotFree === isNotCounted ? state : withPrice(state, isNotCounted);
}

/** What the next windows are compared to, when this one ends. */
export function grantedBy(state: WindowState): Granted | null {
  const { granted, sorts, isRefused, isTold } = state;
  if (isTold || !isAligned(state)) return granted;
  const isMore = granted === null || (!granted.isAll && totalOf(sorts) > totalOf(granted));
  return isRefused || isMore ? { ...sorts, isAll: isRefused } : granted;
}

/**
 * Whether it is one window of the service's, whatever a 304 costs. One that was begun with what is free is not: it ends
 * before the service's does, which then reaches into the next one.
 */
export function isAligned({ sorts, plainBefore }: WindowState): boolean {
  return sorts.isBegunSurely && plainBefore === 0;
}

/** Whether two windows cannot have granted the same, if a 304 costs so much. */
function differ(one: Granted, other: Granted, price: 0 | 1): boolean {
  const least = ({ plain, notModified }: ResponseTally) => plain + price * notModified;
  const most = (granted: Granted) =>
    granted.isAll ? least(granted) + granted.others : Number.POSITIVE_INFINITY;
  return least(one) > most(other) || least(other) > most(one);
}

function totalOf({ plain, notModified }: ResponseTally): number {
  return plain + notModified;
}

/** What was asked in one window, by what it may cost. */

/** Whether the answer itself says what remains. */
export function reportsRemaining({ allowance }: AttemptReport): boolean {
  return typeof allowance?.remaining === "number";
}

export interface ResponseTally {
  /** Answers that are surely counted. */
  readonly plain: number;
  /** Answers "not modified" that did not tell what remains. */
  readonly notModified: number;
  /** What else may have been counted: the front page, errors, and what got no answer. */
  readonly others: number;
  /** Whether the window began with a plain one: then its beginning is known, whatever a 304 costs. */
  readonly isBegunSurely: boolean;
}

/** What one window granted. */
export interface Granted extends ResponseTally {
  /** Whether it granted no more than that. */
  readonly isAll: boolean;
}

export const emptyTally: ResponseTally = { plain: 0, notModified: 0, others: 0, isBegunSurely: false };

/** @param isOfThisWindow whether it was asked for since the window began */
export function countResponse(
  sorts: ResponseTally,
  report: AttemptReport,
  { isRoot, isOfThisWindow }: { readonly isRoot: boolean; readonly isOfThisWindow: boolean },
): ResponseTally {
  const { status, isRefusal, isSent } = report;
  if (!isSent || isRefusal) return sorts;
  if (isRoot || !isOfThisWindow || (status !== 200 && status !== 304))
    return { ...sorts, others: sorts.others + 1 };
  if (status === 304)
    return reportsRemaining(report) ? sorts : { ...sorts, notModified: sorts.notModified + 1 };
  const isBegunSurely = sorts.plain === 0 ? sorts.notModified === 0 : sorts.isBegunSurely;
  return { ...sorts, plain: sorts.plain + 1, isBegunSurely };
}

/** What one request has spent of the allowance: surely, and at most. */
export interface Spending {
  readonly least: 0 | 1;
  readonly most: 0 | 1;
  /** What it most likely has spent, as far as this is learned. */
  readonly likely: 0 | 1;
}

const nothing: Spending = { least: 0, most: 0, likely: 0 };
const perhaps: Spending = { least: 0, most: 1, likely: 1 };
const one: Spending = { least: 1, most: 1, likely: 1 };

export function spendingOf(state: WindowState, report: AttemptReport, isRoot: boolean): Spending {
  const { isFree304, isFreeRoot } = state;
  const { status, isRefusal, isSent } = report;
  if (!isSent || isRefusal) return nothing;
  // No answer means that it may have been counted; an error may be.
  if (status !== 200 && status !== 304) return perhaps;
  if ((isRoot && isFreeRoot === true) || (status === 304 && isFree304 === true)) return nothing;
  const isCounted = (!isRoot || isFreeRoot === false) && (status === 200 || isFree304 === false);
  if (isCounted) return one;
  // Free as a rule, and where there is no limit; but where nothing would tell, it is safer to take it for counted.
  return status === 304 && (reportsRemaining(report) || isUnlimited(state))
    ? { ...perhaps, likely: 0 }
    : perhaps;
}

/** What is known of the price of a check that finds nothing changed. */
export type CheckPrice =
  | "free"
  | "counted"
  /** Taken for counted, since nothing tells; but checks are made as if they were free, because only they can show it. */
  | "untried";

export function checkPriceOf(state: WindowState): CheckPrice {
  if (state.isFree304 !== null) return state.isFree304 ? "free" : "counted";
  return state.isTelling === false && !isUnlimited(state) ? "untried" : "free";
}

/** What was learned of a 304, in the counts of this window too. */
export function withPrice(state: WindowState, isFree304: boolean): WindowState {
  if (state.isFree304 === isFree304) return state;
  const { counted, sorts, limit, surelyGranted } = state;
  const before = boundsOf(state.isFree304);
  const after = boundsOf(isFree304);
  return {
    ...state,
    isFree304,
    counted: {
      least: Math.max(0, counted.least + (after.least - before.least) * sorts.notModified),
      most: Math.max(0, counted.most + (after.most - before.most) * sorts.notModified),
    },
    limit: isFree304 ? (surelyGranted ?? limit) : limit,
    surelyGranted: isFree304 || surelyGranted === null ? surelyGranted : limit,
  };
}

function boundsOf(isFree304: boolean | null): Pick<Spending, "least" | "most"> {
  if (isFree304 === null) return perhaps;
  return isFree304 ? nothing : one;
}
