/** The state of one allowance window: plain data, stored in the ledger as JSON. */
import { dayMillis } from "../../platform/clock.ts";

export interface WindowState {
  /** Numbers leases and releases in their order. Events are ordered by it, never by clocks. */
  readonly seq: number;
  /** When the newest reading was taken, or the window began without one. */
  readonly readingSeq: number;
  /** Requests per window: as reported, or inferred from what the previous window granted before it refused. */
  readonly limit: number | null;
  /** The part of an inferred limit that holds whatever a 304 costs; null for a reported limit. */
  readonly confirmedLimit: number | null;
  /** Epoch milliseconds since which an inferred limit is used; null for a reported limit. */
  readonly limitInferredAt: number | null;
  /** As last reported; null before a report. */
  readonly remaining: number | null;
  /** The reported end of the window. */
  readonly resetAt: Deadline | null;
  /** Whether the service reported the remaining count in this window. */
  readonly isReported: boolean;
  /** Whether any request sent in this window has had a response. */
  readonly hasResponse: boolean;
  readonly isRefused: boolean;
  /** Our own count of this window's requests: those surely counted, and those possibly counted. */
  readonly counted: { readonly min: number; readonly max: number };
  /** Epoch milliseconds by which the service's window had begun: those of a request that was surely counted. */
  readonly startedBy: number | null;
  /** Epoch milliseconds until which an earlier window of the service's may have lasted; null if it had ended before. */
  readonly overlapsUntil: number | null;
  /** Epoch milliseconds of the first request that was surely counted, or has no response. */
  readonly firstRequestAt: number | null;
  /** Epoch milliseconds of the first 304 that may have been counted. */
  readonly firstCheckAt: number | null;
  /** Epoch milliseconds of a root or error that may have been counted, and so have begun the service's window unnoticed. */
  readonly unnoticedStartAt: number | null;
  /** Whether response headers carry the remaining count; null before the first response. */
  readonly hasRemainingHeader: boolean | null;
  /** Epoch milliseconds at which the `rate_limit` resource had no remaining count that we can read; else null. */
  readonly unreadableBodyAt: number | null;
  /** No requests before this time (`Retry-After`). */
  readonly blockedUntil: Deadline | null;
  /** By session. */
  readonly openLeases: Readonly<Record<string, number>>;
  /**
   * Spent since the last reading: responses without a count, requests without a response, leases of dead processes. It
   * holds until a request that was leased after `seq` reports the remaining count.
   */
  readonly unreported: { readonly requests: number; readonly seq: number };
  /** Null until inferred. */
  readonly isFree304: boolean | null;
  readonly isFreeRoot: boolean | null;
  /** Responses since the last reading at which no request was running. */
  readonly sinceReading: ReadingTally | null;
  /** Responses in this window. */
  readonly responses: ResponseTally;
  /** 200 responses of the previous window that the service may count in this one. */
  readonly plainBefore: number;
  /** The grant of an earlier window, for comparison if nothing is reported. */
  readonly granted: Grant | null;
  /** What was spent in this window on finding out why requests were refused. */
  readonly refusalCounts: RefusalCounts;
  /** Whether the service reports as its limit what was used; the other fields hold the grant. */
  readonly isLimitUsed: boolean;
  /** As last sent. */
  readonly lastCounts: ReportedCounts | null;
  readonly ends: WindowEnds;
  readonly setBack: ClockSetBack | null;
  /** A window that ends within a minute, beside the one that `remaining` is of; null without one. */
  readonly short: ShortWindow | null;
}

export interface ShortWindow {
  readonly remaining: number;
  /** Epoch milliseconds; null once it has ended: one request then finds out what the next one grants. */
  readonly resetAt: number | null;
  /** When its newest reading was taken, or it ended. */
  readonly readingSeq: number;
}

/** What the local clock decides about a window. */
export type WindowTimes = Pick<
  WindowState,
  | "resetAt"
  | "blockedUntil"
  | "startedBy"
  | "firstRequestAt"
  | "firstCheckAt"
  | "unnoticedStartAt"
  | "limitInferredAt"
>;

/** The local clock is behind what it was: either it was wrong before, or it is now. */
export interface ClockSetBack {
  /** Epoch milliseconds, by the clock before: the earliest time that agrees with `times`. */
  readonly from: number;
  /** By the clock before. They hold again if the clock is put right during this window. */
  readonly times: WindowTimes;
}

/** What the reported ends of windows show about their length. An end counts if two responses in a row report it. */
export interface WindowEnds {
  /** The end that was last reported, in epoch milliseconds, accepted or not. */
  readonly lastReset: number | null;
  /** The last end that counts, in epoch milliseconds. */
  readonly last: number | null;
  /** In milliseconds: the longest time from a response to its end. */
  readonly atLeast: number | null;
  /** In milliseconds: the shortest time between two ends. */
  readonly atMost: number | null;
}

/** Responses of one window, by what they may cost. */
export interface ResponseTally {
  /** Surely counted. */
  readonly plain: number;
  /** Status 304, without a remaining count. */
  readonly notModified: number;
  /** Possibly counted: the root, errors, and requests without a response. */
  readonly others: number;
  /** Whether a surely counted request began the window: its start is then known, whatever a 304 costs. */
  readonly isStartKnown: boolean;
}

/** The requests that one window granted. */
export interface Grant extends ResponseTally {
  /** Whether the window refused more. */
  readonly isExhausted: boolean;
}

/** Responses between two readings of the remaining count. */
export interface ReadingTally {
  /** The remaining count of the first reading. */
  readonly remaining: number;
  readonly plain: number;
  readonly notModified: number;
  readonly roots: number;
  /** Whether the reading came from the `rate_limit` body, as it does without headers. */
  readonly isFromBody: boolean;
  /** Whether every response since is counted here and reports the remaining count the same way. */
  readonly isConclusive: boolean;
}

export interface RefusalCounts {
  /** Refusals without a reason that no counted response followed. */
  readonly refusals: number;
  /** When the last of them arrived. */
  readonly seq: number;
  /** Counted requests that were sent to find out. */
  readonly probes: number;
  /**
   * Refusals with `Retry-After` in a row: since a response last showed that it was right. Of requests that were running
   * together, only one counts.
   */
  readonly throttles: number;
  /** When the last of them arrived. */
  readonly throttledSeq: number;
}

/** The limit and the remaining count as sent. */
export interface ReportedCounts {
  readonly limit: number;
  readonly remaining: number;
}

/** A future time by the local clock. A clock that is set back later does not extend it beyond the original wait. */
export interface Deadline {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly spanMillis: number;
}

export const emptyWindow: WindowState = {
  seq: 0,
  readingSeq: 0,
  limit: null,
  confirmedLimit: null,
  limitInferredAt: null,
  remaining: null,
  resetAt: null,
  isReported: false,
  hasResponse: false,
  isRefused: false,
  counted: { min: 0, max: 0 },
  startedBy: null,
  overlapsUntil: null,
  firstRequestAt: null,
  firstCheckAt: null,
  unnoticedStartAt: null,
  hasRemainingHeader: null,
  unreadableBodyAt: null,
  blockedUntil: null,
  openLeases: {},
  unreported: { requests: 0, seq: 0 },
  isFree304: null,
  isFreeRoot: null,
  sinceReading: null,
  responses: { plain: 0, notModified: 0, others: 0, isStartKnown: false },
  plainBefore: 0,
  granted: null,
  refusalCounts: { refusals: 0, seq: 0, probes: 0, throttles: 0, throttledSeq: 0 },
  isLimitUsed: false,
  lastCounts: null,
  ends: { lastReset: null, last: null, atLeast: null, atMost: null },
  setBack: null,
  short: null,
};

/** Known limits are 30 to 300 a day. */
const unlimitedAfter = 1_000;

/** Whether so many requests were granted without a reported limit that any limit would not matter. */
export function isUnlimited({ remaining, limit, counted }: WindowState): boolean {
  return remaining === null && limit === null && counted.max >= unlimitedAfter;
}

export function countOpenLeases({ openLeases }: WindowState): number {
  return Object.values(openLeases).reduce((sum, leases) => sum + leases, 0);
}

/**
 * Epoch milliseconds at which the window ends: as reported, else a day after its first counted request. Where that request
 * is not known, the window ends early: a late end would count it into the next one. After a refusal it ends late, because a
 * request before the real end would be wasted.
 */
export function windowEndsAt(state: WindowState): number | null {
  if (state.resetAt !== null) return state.resetAt.at;
  const first = state.isRefused ? state.startedBy : (firstCountableAt(state) ?? state.startedBy);
  return first === null ? null : first + dayMillis;
}

/** Epoch milliseconds of the first request that may have begun the window: a 304 only if it may be counted. */
export function firstCountableAt({ firstRequestAt, firstCheckAt, isFree304 }: WindowState): number | null {
  const times = [firstRequestAt, isFree304 === true ? null : firstCheckAt].filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Whether an earlier window of the service's may last since the last counted request. Each counted request may then be the
 * first one of the next window.
 */
export function isStartOpen({ startedBy, overlapsUntil }: WindowState): boolean {
  return overlapsUntil !== null && (startedBy === null || startedBy < overlapsUntil);
}

/** The state after a request that was surely counted. */
export function withCountedRequest(state: WindowState, now: number): WindowState {
  const isFirst = state.startedBy === null || isStartOpen(state);
  return isFirst ? { ...state, startedBy: now } : withLaterStart(state, now);
}

/** The state after a root or an error that may have been counted. */
export function withUnnoticedStart(state: WindowState, now: number): WindowState {
  const { startedBy, unnoticedStartAt: at } = state;
  if (startedBy !== null || (at !== null && now < at + dayMillis)) return state;
  return { ...state, unnoticedStartAt: now };
}

/**
 * If the service's window began unnoticed, it ends before the ledger's. The next one then begins with the first counted
 * request after that. If that one is unnoticed too, a refusal shows it.
 */
export function withLaterStart(state: WindowState, now: number): WindowState {
  const { startedBy, unnoticedStartAt } = state;
  if (startedBy === null || unnoticedStartAt === null) return state;
  const endsAt = unnoticedStartAt + dayMillis;
  return startedBy < endsAt && now >= endsAt ? { ...state, startedBy: now, overlapsUntil: endsAt } : state;
}

/** The number of requests granted before the first refusal, including those that may have been free. */
export function inferLimit({ counted, isFree304, responses }: WindowState): number {
  return counted.min + (isFree304 === null ? responses.notModified : 0);
}
