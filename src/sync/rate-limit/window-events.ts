/**
 * The events of an allowance window. In: its state, a lease or the report of an attempt, and the time. Out: the next state.
 * Pure: no files, processes, sockets or waiting.
 *
 * Responses overtake each other, so the lower of two remaining counts holds. The exception is a response to a request that
 * was leased after the other response arrived: it is surely later, and a higher count in it means a new window.
 */
import { dayMillis } from "../../platform/clock.ts";
import type { RateLimitHeaders } from "../../service/requests/headers.ts";
import type { AttemptReport } from "../../service/requests/rate-limiter.ts";
import { withoutClockJumps } from "./clock-jumps.ts";
import {
  addToReadingTally,
  addToResponseTally,
  grantOf,
  inferFromBodies,
  inferFromFullWindow,
  inferFromGrants,
  inferFromReadings,
  isAligned,
  reportsRemaining,
  type Spending,
  spendingOf,
} from "./infer-prices.ts";
import { countThrottles, countUnexplained, isWrongRetryAfter } from "./refusals/refusal-counts.ts";
import {
  applyReading,
  applyShort,
  laterBlock,
  learnWindow,
  refusesEarlierWindow,
  resolveLimit,
  toWindowEnd,
  withoutEndedShort,
} from "./reported-limits.ts";
import {
  emptyWindow,
  inferLimit,
  type WindowState,
  windowEndsAt,
  withCountedRequest,
  withLaterStart,
  withUnnoticedStart,
} from "./window.ts";

export interface Lease {
  readonly session: string;
  readonly seq: number;
}

/** The end of a leased request. */
export interface LeaseRelease {
  readonly lease: Lease;
  readonly isRoot: boolean;
  readonly report: AttemptReport;
}

/** The state at this time: after its end the window is a new one, and no clock error makes it endless. */
export function renew(before: WindowState, now: number): WindowState {
  const state = withoutEndedShort(withoutClockJumps(before, now), now);
  const end = windowEndsAt(state);
  if (end === null || end > now) return state;
  const { blockedUntil, openLeases, isFree304, isFreeRoot, hasRemainingHeader, isReported } = state;
  const { isLimitUsed, lastCounts, ends, unreadableBodyAt, short } = state;
  const seq = state.seq + 1;
  const isInferred = state.isRefused && !isReported && state.overlapsUntil === null;
  // With these, no window of the service's reaches into the next one.
  const isOver = state.isRefused || isAligned(state) || end + dayMillis <= now;
  return {
    ...emptyWindow,
    limit: isInferred ? inferLimit(state) : state.limit,
    confirmedLimit: isReported ? null : isInferred ? state.counted.min : state.confirmedLimit,
    limitInferredAt: isReported ? null : isInferred ? end : state.limitInferredAt,
    blockedUntil,
    openLeases,
    isFree304,
    isFreeRoot,
    hasRemainingHeader,
    unreadableBodyAt,
    granted: grantOf(state),
    isLimitUsed,
    lastCounts,
    ends,
    short: short?.resetAt === null ? null : short,
    overlapsUntil: isOver ? null : overlapAfter(state, end),
    plainBefore: isOver ? 0 : state.responses.plain,
    unnoticedStartAt: state.startedBy === null ? state.unnoticedStartAt : null,
    seq,
    readingSeq: seq,
  };
}

/** A lost request may have begun a window at any time before this one ended. */
function overlapAfter({ startedBy, firstRequestAt }: WindowState, end: number): number | null {
  if (startedBy !== null) return startedBy + dayMillis;
  return firstRequestAt === null ? null : end + dayMillis;
}

export function lease(
  state: WindowState,
  session: string,
  count: number,
): { state: WindowState; lease: Lease } {
  const seq = state.seq + 1;
  const openLeases = { ...state.openLeases, [session]: (state.openLeases[session] ?? 0) + count };
  return { state: { ...state, seq, openLeases }, lease: { session, seq } };
}

/** Returns unused leases. */
export function returnLeases(state: WindowState, session: string, count: number): WindowState {
  const held = state.openLeases[session] ?? 0;
  if (held > count) return { ...state, openLeases: { ...state.openLeases, [session]: held - count } };
  // More than it holds: the session was taken for dead, and its leases for spent.
  const requests = Math.max(0, state.unreported.requests - (count - held));
  return { ...withoutLeases(state, session), unreported: { ...state.unreported, requests } };
}

export function withoutLeases(state: WindowState, session: string): WindowState {
  const { [session]: _, ...openLeases } = state.openLeases;
  return { ...state, openLeases };
}

/** @param now epoch milliseconds */
export function releaseLease(before: WindowState, given: LeaseRelease, now: number): WindowState {
  const { lease, isRoot } = given;
  const returned = returnLeases(renew(before, now), lease.session, 1);
  const resolved = resolveReport(returned, given.report, now);
  const { report } = resolved;
  const release = { lease, isRoot, report };
  const state = inferFromFullWindow(resolved.state, report, isRoot);
  const spending = spendingOf(state, report, isRoot);
  const counted = countRelease(state, release, spending, now);
  const withShort = applyShort(counted, report, lease.seq, spending.likely);
  const next = applyReport(withShort, release, spending, now);
  const inferred = inferFromGrants(inferWhenIdle(next, report), next.isRefused && !state.isRefused);
  return withEnd(inferred, now);
}

function resolveReport(before: WindowState, report: AttemptReport, now: number) {
  if (report.allowance === null) return { state: before, report };
  const { state, reading } = resolveLimit(before, report.allowance);
  // A refusal may be an error: only other responses show how long windows are.
  const learned = report.isRefusal ? state : learnWindow(state, reading, now);
  return { state: learned, report: { ...report, allowance: reading } };
}

function countRelease(
  state: WindowState,
  { lease, isRoot, report }: LeaseRelease,
  spending: Spending,
  now: number,
): WindowState {
  const isOfThisWindow = lease.seq > state.readingSeq;
  const isCheck = report.status === 304;
  const isError = report.status !== null && report.status !== 200 && !isCheck;
  const mayStartWindow = spending.max === 1 && (spending.min === 1 || (!isRoot && !isError));
  const isUnnoticed = spending.max === 1 && !mayStartWindow;
  const unlessCounted = isUnnoticed ? withUnnoticedStart(state, now) : state;
  return {
    ...(spending.min === 1 ? withCountedRequest(state, now) : unlessCounted),
    seq: state.seq + 1,
    hasResponse: state.hasResponse || (isOfThisWindow && report.status !== null),
    counted: { min: state.counted.min + spending.min, max: state.counted.max + spending.max },
    firstRequestAt: state.firstRequestAt ?? (mayStartWindow && !isCheck ? now : null),
    firstCheckAt: state.firstCheckAt ?? (mayStartWindow && isCheck ? now : null),
    hasRemainingHeader: isSuccess(report)
      ? reportsRemaining(report) || (state.hasResponse && state.hasRemainingHeader === true)
      : state.hasRemainingHeader,
    responses: addToResponseTally(state.responses, report, {
      isRoot,
      isOfThisWindow,
      isFirst: state.firstRequestAt === null,
    }),
    blockedUntil: laterBlock(state, report, now),
    refusalCounts: countThrottles(
      countUnexplained(state, lease, report, spending),
      state.seq,
      lease,
      report,
      spending,
    ),
    sinceReading: addToReadingTally(state.sinceReading, report, isRoot),
  };
}

function isSuccess({ status, isRefusal }: AttemptReport): boolean {
  return (status === 200 || status === 304) && !isRefusal;
}

/**
 * Applies the body of the `rate_limit` resource.
 * @param releaseSeq the `seq` after the release of that request. If nothing happened since and no request is running, the
 * reading is later than everything else
 */
export function recordLimits(
  before: WindowState,
  given: RateLimitHeaders,
  releaseSeq: number,
  now: number,
): WindowState {
  const resolved = resolveLimit(renew(before, now), given);
  const { reading } = resolved;
  const state = learnWindow(resolved.state, reading, now);
  const isNewest = state.seq === releaseSeq && Object.keys(state.openLeases).length === 0;
  const next = { ...state, seq: state.seq + 1 };
  const recorded = applyReading(next, reading, isNewest ? next.seq : 0, false, now) ?? next;
  const mayInfer = isNewest && recorded.remaining === reading.remaining;
  return withEnd(mayInfer ? inferFromBodies(recorded, recorded.remaining) : recorded, now);
}

/** A reading without an end ends at most a day later. */
export function withEnd(state: WindowState, now: number): WindowState {
  const hasEnd = state.remaining === null || windowEndsAt(state) !== null;
  return hasEnd ? state : { ...state, startedBy: now };
}

function applyReport(
  state: WindowState,
  { lease, report }: LeaseRelease,
  spending: Spending,
  now: number,
): WindowState {
  const { allowance } = report;
  const isWrong = isWrongRetryAfter(state, report);
  const isRefusal = report.isRefusal || isWrong;
  const retryAt = isWrong ? null : report.retryAt;
  const isLater = lease.seq > state.readingSeq;
  // Sent before this window began, and refused since: the refusal concerns the previous window.
  const isLate = !isLater && refusesEarlierWindow(state, allowance, now);
  if (isRefusal && !isLate) {
    const resetAt =
      toWindowEnd(state, allowance?.resetAt ?? null, now) ??
      toWindowEnd(state, retryAt, now) ??
      state.resetAt;
    const isReported = state.isReported || typeof allowance?.limit === "number";
    const limit = allowance?.limit ?? state.limit;
    const refused = {
      ...withLaterStart(state, now),
      limit,
      resetAt,
      isReported,
      isRefused: true,
      remaining: 0,
      readingSeq: state.seq,
    };
    return isWrong ? { ...refused, blockedUntil: null } : refused;
  }
  const isCounted = spending.min === 1;
  const read =
    allowance === null || isRefusal ? null : applyReading(state, allowance, lease.seq, isCounted, now);
  return read ?? addUnreported(state, spending.likely);
}

/** Nothing to add before the first reading: `counted` holds the same. */
export function addUnreported(state: WindowState, count: number): WindowState {
  if (state.remaining === null || count === 0) return state;
  return { ...state, unreported: { requests: state.unreported.requests + count, seq: state.seq } };
}

function inferWhenIdle(state: WindowState, { allowance }: AttemptReport): WindowState {
  const isIdle = Object.keys(state.openLeases).length === 0 && state.unreported.requests === 0;
  if (!isIdle || state.remaining === null || allowance?.remaining !== state.remaining) return state;
  return inferFromReadings(state, state.remaining);
}
