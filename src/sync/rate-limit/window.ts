/** What is known of one allowance window: plain data, as it stands in the ledger. */

import { dayMillis } from "../../platform/clock.ts";
import {
  type CheckPrice,
  checkPriceOf,
  emptyTally,
  type Granted,
  isBodyOfUse,
  type ResponseTally,
  type Tally,
} from "./infer-prices.ts";
import { type Principal, readLatestWindow, readWindow } from "./ledger.ts";
import { endsAt, learnedLimit, renew } from "./window-events.ts";

export interface WindowState {
  /** Numbers leases and settlements in the order in which they happened; what is later is told by it, never by clocks. */
  readonly seq: number;
  /** When the newest reading was settled, or this window began without one. */
  readonly readingSeq: number;
  /** Requests a window: as told, or what the window before this one granted until it refused. */
  readonly limit: number | null;
  /** How much of a limit that was learned is no matter of what a 304 costs; null for one that was told. */
  readonly surelyGranted: number | null;
  /** Since when a limit that was learned is believed, in epoch milliseconds; null for one that was told. */
  readonly limitLearnedAt: number | null;
  /** Left as told; null until something was told. */
  readonly remaining: number | null;
  /** When the window ends, as told. */
  readonly resetAt: Deadline | null;
  /** Whether the service itself has told what remains in this window. */
  readonly isTold: boolean;
  /** Whether any answer has come in this window. */
  readonly isAnswered: boolean;
  readonly isRefused: boolean;
  /** Our own count in this window: what was surely counted, and what may have been. */
  readonly counted: { readonly least: number; readonly most: number };
  /** When something was surely counted first, in epoch milliseconds. */
  readonly firstCountedAt: number | null;
  /** When something was asked first that was counted, or is taken for it. */
  readonly firstAskedAt: number | null;
  /** Whether answers themselves tell what remains; null until there was one. */
  readonly isTelling: boolean | null;
  /** Not to be asked before this moment (`Retry-After`). */
  readonly blockedUntil: Deadline | null;
  /** Open leases of each session. */
  readonly open: Readonly<Record<string, number>>;
  /**
   * Spent since without being told: answers that said nothing, no answers at all, leases of processes that have died;
   * until a request that was leased after `seq` says what remains.
   */
  readonly untold: { readonly requests: number; readonly seq: number };
  /** Null until learned. */
  readonly isFree304: boolean | null;
  readonly isFreeRoot: boolean | null;
  /** What was asked since the last moment at which nothing was under way and what remains was known. */
  readonly tally: Tally | null;
  /** What was asked in this window, by what it may cost. */
  readonly sorts: ResponseTally;
  /** Plain answers in the window before, where the service may count them in this one. */
  readonly plainBefore: number;
  /** The window to which this one is compared where nothing is told. */
  readonly granted: Granted | null;
}

export const emptyWindow: WindowState = {
  seq: 0,
  readingSeq: 0,
  limit: null,
  surelyGranted: null,
  limitLearnedAt: null,
  remaining: null,
  resetAt: null,
  isTold: false,
  isAnswered: false,
  isRefused: false,
  counted: { least: 0, most: 0 },
  firstCountedAt: null,
  firstAskedAt: null,
  isTelling: null,
  blockedUntil: null,
  open: {},
  untold: { requests: 0, seq: 0 },
  isFree304: null,
  isFreeRoot: null,
  tally: null,
  sorts: emptyTally,
  plainBefore: 0,
  granted: null,
};

/** A service that has granted as many without telling a limit has none that matters: those known are 30 to 300 a day. */
const boundlessAfter = 1_000;

/** Whether so much was granted without telling a limit that there is none that matters. */
export function isUnlimited({ remaining, limit, counted }: WindowState): boolean {
  return remaining === null && limit === null && counted.most >= boundlessAfter;
}

export function openLeases({ open }: WindowState): number {
  return Object.values(open).reduce((sum, leases) => sum + leases, 0);
}

/**
 * A moment in the future by the local clock, and how far off it was when it was told: a clock that is set back afterwards
 * does not put it off any further than that.
 */
export interface Deadline {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly spanMillis: number;
}

/** No allowance is known to be granted for longer than a month; what is further off was not meant. */
const longestWindowMillis = 32 * dayMillis;

/** The end of a window; null when it is past or absurdly far away. A clock that is set back makes it a day at least. */
export function windowEnd(at: number | null, now: number): Deadline | null {
  if (at === null || at <= now || at - now > longestWindowMillis) return null;
  return { at, spanMillis: Math.max(dayMillis, at - now) };
}

export function clampDeadline(moment: Deadline | null, now: number): Deadline | null {
  if (moment === null || moment.at <= now + moment.spanMillis) return moment;
  return { ...moment, at: now + moment.spanMillis };
}

/** What is known of an allowance, or expected from the window before this one. */
export interface AllowanceState {
  /** Requests a window. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Epoch milliseconds at which the window ends. */
  readonly resetAt: number | null;
}

export interface KnownAllowance extends AllowanceState {
  /** Null until learned. */
  readonly isFree304: boolean | null;
  readonly isFreeRoot: boolean | null;
  readonly checkPrice: CheckPrice;
  /** Whether asking again what remains helps to learn what a 304 costs. */
  readonly isBodyOfUse: boolean;
  /** Whether the service has told what remains; else it is expected by our own count. */
  readonly isTold: boolean;
  /** It granted so much without telling a limit that none matters. */
  readonly isBoundless: boolean;
}

/**
 * The allowance as far as the ledger knows it, offline; null when it knows nothing. What is being spent by a run, or was
 * by one that died, does not remain. Reads only, and makes no file.
 * @param now epoch milliseconds
 * @throws LedgerError
 */
export function readLedger(file: string, principal: Principal, now: number): KnownAllowance | null {
  const state = readWindow(file, principal);
  return state === null ? null : describeWindow(renew(state, now));
}

/** As `readLedger`, of whatever credential asked last. */
export function readLatest(file: string, origin: string, now: number): KnownAllowance | null {
  const state = readLatestWindow(file, origin);
  return state === null ? null : describeWindow(renew(state, now));
}

/** @param state renewed at this time */
export function describeWindow(state: WindowState): KnownAllowance {
  const { limit, counted, untold, isFree304, isFreeRoot, isTold } = state;
  const expected = limit === null ? null : limit - counted.most;
  const left = state.remaining === null ? expected : state.remaining - untold.requests;
  return {
    limit: limit ?? (state.isRefused ? learnedLimit(state) : null),
    remaining: left === null ? null : Math.max(0, left - openLeases(state)),
    resetAt: left === null ? null : endsAt(state),
    isFree304,
    isFreeRoot,
    checkPrice: checkPriceOf(state),
    isBodyOfUse: isBodyOfUse(state),
    isTold,
    isBoundless: isUnlimited(state),
  };
}
