/**
 * One allowance window and what happens to it. In: its state, a lease or the report of an attempt, and the time. Out: the
 * next state. Pure: it knows nothing of files, processes, sockets or waiting.
 *
 * Answers overtake each other, so the lower of two numbers holds, unless the one was told in answer to a request that was
 * leased after the other had been settled: then it is later for sure, and a higher one means that the window was renewed.
 */

import { dayMillis } from "../../platform/clock.ts";
import type { RateLimitHeaders } from "../../service/requests/headers.ts";
import type { AttemptReport } from "../../service/requests/rate-limiter.ts";
import {
  countIn,
  countResponse,
  grantedBy,
  isAligned,
  learnFromBodies,
  learnFromGrants,
  learnWhatIsFree,
  learnWhenFull,
  reportsRemaining,
  type Spending,
  spendingOf,
} from "./infer-prices.ts";
import { clampDeadline, type Deadline, emptyWindow, type WindowState, windowEnd } from "./window.ts";

export interface Lease {
  readonly session: string;
  readonly seq: number;
}

export interface Settlement {
  readonly lease: Lease;
  readonly isRoot: boolean;
  readonly report: AttemptReport;
}

/** Resets of one window differ by as much when they are told in seconds from now. */
const sameWindowMillis = 5_000;

/** The state at this time: a window that has ended is new, and no clock makes one endless. */
export function renew(before: WindowState, now: number): WindowState {
  const state = withoutClockJumps(before, now);
  const end = endsAt(state);
  if (end === null || end > now) return state;
  const { blockedUntil, open, isFree304, isFreeRoot, isTelling } = state;
  const seq = state.seq + 1;
  const isLearned = state.isRefused && !state.isTold;
  const limit = isLearned ? learnedLimit(state) : state.limit;
  const surelyGranted = state.isTold ? null : isLearned ? state.counted.least : state.surelyGranted;
  const limitLearnedAt = state.isTold ? null : isLearned ? end : state.limitLearnedAt;
  const kept = { limit, surelyGranted, limitLearnedAt, blockedUntil, open, isFree304, isFreeRoot, isTelling };
  // No window of the service's then reaches into the next one.
  const isOver = state.isRefused || isAligned(state) || end + dayMillis <= now;
  const learned = { granted: grantedBy(state), plainBefore: isOver ? 0 : state.sorts.plain };
  return { ...emptyWindow, ...kept, ...learned, seq, readingSeq: seq };
}

/**
 * A limit that was learned may be what others had left of it. Where it leaves nothing beside what is kept, no request would ever
 * put it right, so that it is believed for a day and then found out anew.
 * @param state renewed at this time
 */
export function forgetStaleLimit(state: WindowState, reserve: number, now: number): WindowState {
  const believedUntil = staleUntil(state, reserve);
  if (believedUntil === null || now < believedUntil) return state;
  return { ...state, limit: null, surelyGranted: null, limitLearnedAt: null, granted: null };
}

/** Epoch milliseconds until which nothing is asked because what is kept is all there is; null when that is not why. */
export function staleUntil(
  { limit, limitLearnedAt, firstAskedAt }: WindowState,
  reserve: number,
): number | null {
  if (limit === null || limitLearnedAt === null || limit > reserve || firstAskedAt !== null) return null;
  return limitLearnedAt + dayMillis;
}

/** What a window has granted that was refused; what may have been free is taken for counted here. */
export function learnedLimit({ counted, isFree304, sorts }: WindowState): number {
  return counted.least + (isFree304 === null ? sorts.notModified : 0);
}

function withoutClockJumps(state: WindowState, now: number): WindowState {
  const resetAt = clampDeadline(state.resetAt, now);
  const blocked = clampDeadline(state.blockedUntil, now);
  const blockedUntil = blocked === null || blocked.at <= now ? null : blocked;
  const firstCountedAt = notAhead(state.firstCountedAt, now);
  const firstAskedAt = notAhead(state.firstAskedAt, now);
  const limitLearnedAt = notAhead(state.limitLearnedAt, now);
  const isSame =
    resetAt === state.resetAt &&
    blockedUntil === state.blockedUntil &&
    firstCountedAt === state.firstCountedAt &&
    firstAskedAt === state.firstAskedAt &&
    limitLearnedAt === state.limitLearnedAt;
  if (isSame) return state;
  return { ...state, resetAt, blockedUntil, firstCountedAt, firstAskedAt, limitLearnedAt };
}

function notAhead(at: number | null, now: number): number | null {
  return at !== null && at > now ? now : at;
}

/**
 * Epoch milliseconds at which the window ends: as told, else a day after its first counted request. Where it is not known
 * which that was, the window is ended early rather than counted into the next one; but once it has refused, it is over for
 * sure before more is asked.
 */
export function endsAt({ resetAt, firstCountedAt, firstAskedAt, isRefused }: WindowState): number | null {
  if (resetAt !== null) return resetAt.at;
  const first = isRefused ? firstCountedAt : (firstAskedAt ?? firstCountedAt);
  return first === null ? null : first + dayMillis;
}

export function lease(
  state: WindowState,
  session: string,
  count: number,
): { state: WindowState; lease: Lease } {
  const seq = state.seq + 1;
  const open = { ...state.open, [session]: (state.open[session] ?? 0) + count };
  return { state: { ...state, seq, open }, lease: { session, seq } };
}

/** Gives back leases that were never used. */
export function returnLease(state: WindowState, session: string, count: number): WindowState {
  const held = state.open[session] ?? 0;
  if (held > count) return { ...state, open: { ...state.open, [session]: held - count } };
  // More than it holds: the session was taken for dead, and its leases for spent.
  const requests = Math.max(0, state.untold.requests - (count - held));
  return { ...state, open: without(state.open, session), untold: { ...state.untold, requests } };
}

/** A session whose process has died: what it held open counts as spent. */
export function expireSession(state: WindowState, session: string): WindowState {
  const held = state.open[session] ?? 0;
  const { least, most } = state.counted;
  const sorts = { ...state.sorts, others: state.sorts.others + held };
  const buried = { ...state, seq: state.seq + 1, open: without(state.open, session), tally: null, sorts };
  return spendUntold({ ...buried, counted: { least, most: most + held } }, held);
}

function without(open: WindowState["open"], session: string): WindowState["open"] {
  const { [session]: _, ...others } = open;
  return others;
}

/** @param now epoch milliseconds */
export function settle(before: WindowState, settlement: Settlement, now: number): WindowState {
  const { lease, isRoot, report } = settlement;
  const released = learnWhenFull(returnLease(renew(before, now), lease.session, 1), report, isRoot);
  const spending = spendingOf(released, report, isRoot);
  const isOfThisWindow = lease.seq > released.readingSeq;
  const { isTelling } = released;
  const mayBegin = spending.least === 1 || (spending.most === 1 && report.status === 304 && !isRoot);
  const state = {
    ...released,
    seq: released.seq + 1,
    isAnswered: released.isAnswered || report.status !== null,
    counted: {
      least: released.counted.least + spending.least,
      most: released.counted.most + spending.most,
    },
    firstCountedAt: released.firstCountedAt ?? (spending.least === 1 ? now : null),
    firstAskedAt: released.firstAskedAt ?? (mayBegin ? now : null),
    isTelling: isAnswer(report)
      ? reportsRemaining(report) || (released.isAnswered && isTelling === true)
      : isTelling,
    sorts: countResponse(released.sorts, report, { isRoot, isOfThisWindow }),
    blockedUntil: laterBlock(released.blockedUntil, report, now),
    tally: countIn(released.tally, report, isRoot),
  };
  const next = withEnd(takeReport(state, settlement, spending, now), now);
  return learnFromGrants(learnWhenQuiet(next, report), next.isRefused && !released.isRefused);
}

function isAnswer({ status, isRefusal }: AttemptReport): boolean {
  return (status === 200 || status === 304) && !isRefusal;
}

/**
 * What the service says in a body, in answer to the request whose settlement was the `settledSeq`th event: later for sure
 * than everything, if nothing has happened since and nothing is under way.
 */
export function recordLimits(
  before: WindowState,
  reading: RateLimitHeaders,
  settledSeq: number,
  now: number,
): WindowState {
  const state = renew(before, now);
  const isNewest = state.seq === settledSeq && Object.keys(state.open).length === 0;
  const next = { ...state, seq: state.seq + 1 };
  const told = withEnd(takeReading(next, reading, isNewest ? next.seq : 0, now) ?? next, now);
  if (!isNewest || told.remaining === null || told.remaining !== reading.remaining) return told;
  return learnFromBodies(told, told.remaining);
}

/** What is told without an end ends a day after it was told, at the latest. */
function withEnd(state: WindowState, now: number): WindowState {
  return state.remaining === null || endsAt(state) !== null ? state : { ...state, firstCountedAt: now };
}

function takeReport(state: WindowState, { lease, report }: Settlement, spending: Spending, now: number) {
  const { allowance, isRefusal, retryAt } = report;
  const isLater = lease.seq > state.readingSeq;
  // Asked before this window began, and refused since: that was about the last one.
  const isLate = !isLater && (state.remaining === null || isOfEarlierWindow(state, allowance, now));
  if (isRefusal && !isLate) {
    const resetAt = windowEnd(allowance?.resetAt ?? null, now) ?? windowEnd(retryAt, now) ?? state.resetAt;
    const isTold = state.isTold || typeof allowance?.limit === "number";
    const limit = allowance?.limit ?? state.limit;
    return { ...state, limit, resetAt, isTold, isRefused: true, remaining: 0, readingSeq: state.seq };
  }
  const told = allowance !== null && !isRefusal ? takeReading(state, allowance, lease.seq, now) : null;
  return told ?? spendUntold(state, spending.likely);
}

/** @returns null when the reading says nothing of this window's remainder */
function takeReading(
  state: WindowState,
  reading: RateLimitHeaders,
  leaseSeq: number,
  now: number,
): WindowState | null {
  const { limit, remaining } = reading;
  const isLater = leaseSeq > state.readingSeq;
  if (remaining === null || (limit !== null && remaining > limit)) return null;
  if (!isLater && isOfEarlierWindow(state, reading, now)) return null;
  const told = windowEnd(reading.resetAt, now);
  return {
    ...state,
    isTold: true,
    isAnswered: true,
    readingSeq: state.seq,
    remaining: isLater ? remaining : Math.min(remaining, state.remaining ?? remaining),
    limit: (isLater ? limit : null) ?? state.limit ?? limit,
    resetAt: (isLater ? told : null) ?? state.resetAt ?? told,
    untold: leaseSeq > state.untold.seq ? emptyWindow.untold : state.untold,
  };
}

function isOfEarlierWindow(state: WindowState, reading: RateLimitHeaders | null, now: number): boolean {
  const at = reading?.resetAt ?? null;
  return at !== null && (at <= now || (state.resetAt !== null && at < state.resetAt.at - sameWindowMillis));
}

/** Until something was told, our own count says as much. */
function spendUntold(state: WindowState, count: number): WindowState {
  if (state.remaining === null || count === 0) return state;
  return { ...state, untold: { requests: state.untold.requests + count, seq: state.seq } };
}

/** A 503 is about one resource; the others speak for the whole service. */
function laterBlock(
  known: Deadline | null,
  { status, retryAt }: AttemptReport,
  now: number,
): Deadline | null {
  if (retryAt === null || retryAt <= now || (status !== 403 && status !== 429)) return known;
  return known !== null && known.at >= retryAt ? known : { at: retryAt, spanMillis: retryAt - now };
}

function learnWhenQuiet(state: WindowState, { allowance }: AttemptReport): WindowState {
  const isQuiet = Object.keys(state.open).length === 0 && state.untold.requests === 0;
  if (!isQuiet || state.remaining === null || allowance?.remaining !== state.remaining) return state;
  return learnWhatIsFree(state, state.remaining);
}
