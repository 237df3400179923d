/** Describes an allowance from its stored state, for plans, reports and the order of requests. */
import { toIso } from "../../platform/clock.ts";
import { type CheckPrice, checkPriceOf, isBodyUseful } from "./infer-prices.ts";
import { windowSecondsOf } from "./reported-limits.ts";
import { type Principal, readLatestWindow, readWindow } from "./store/ledger-store.ts";
import { countOpenLeases, inferLimit, isUnlimited, type WindowState, windowEndsAt } from "./window.ts";
import { renew } from "./window-events.ts";

const secondsPerDay = 86_400;

/** As reported, or expected from the previous window. */
export interface AllowanceState {
  /** Requests per window. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Epoch milliseconds at which the window ends. */
  readonly resetAt: number | null;
  /** The length of a window; null if it is not known. */
  readonly windowSeconds: number | null;
}

/** As in reports and plans. */
export interface AllowanceSummary extends Omit<AllowanceState, "resetAt"> {
  /** ISO 8601, UTC: the end of the window. */
  readonly resetAt: string | null;
}

export interface KnownAllowance extends AllowanceState {
  /** Null until inferred. */
  readonly isFree304: boolean | null;
  readonly isFreeRoot: boolean | null;
  readonly checkPrice: CheckPrice;
  /** Whether reading the `rate_limit` resource now helps to infer the price of a 304. */
  readonly isBodyUseful: boolean;
  /** Whether the service reported the remaining count; else it is our own estimate. */
  readonly isReported: boolean;
  /** So many requests were granted without a reported limit that any limit would not matter. */
  readonly isUnlimited: boolean;
}

/**
 * Reads an allowance without a request; null if the ledger has no record of it. Leases of running and dead processes are
 * subtracted. Creates no file.
 * @param now epoch milliseconds
 * @throws LedgerError
 */
export function readLedger(file: string, principal: Principal, now: number): KnownAllowance | null {
  const state = readWindow(file, principal);
  return state === null ? null : describeWindow(renew(state, now));
}

/** As `readLedger`, for the credential that was used last. */
export function readLatest(file: string, origin: string, now: number): KnownAllowance | null {
  const state = readLatestWindow(file, origin);
  return state === null ? null : describeWindow(renew(state, now));
}

/** Requests that the allowance grants in a day, in all its windows; one window a day if its length is not known. */
export function limitPerDay({
  limit,
  windowSeconds,
}: Pick<AllowanceState, "limit" | "windowSeconds">): number | null {
  return limit === null
    ? null
    : Math.max(1, Math.floor((limit * secondsPerDay) / (windowSeconds ?? secondsPerDay)));
}

/** @param state renewed at this time */
export function describeWindow(state: WindowState): KnownAllowance {
  const { limit, counted, unreported, isFree304, isFreeRoot, isReported } = state;
  const estimate = limit === null ? null : limit - counted.max;
  const left = state.remaining === null ? estimate : state.remaining - unreported.requests;
  return {
    limit: limit ?? (state.isRefused ? inferLimit(state) : null),
    remaining: left === null ? null : Math.max(0, left - countOpenLeases(state)),
    resetAt: left === null ? null : windowEndsAt(state),
    windowSeconds: windowSecondsOf(state),
    isFree304,
    isFreeRoot,
    checkPrice: checkPriceOf(state),
    isBodyUseful: isBodyUseful(state),
    isReported,
    isUnlimited: isUnlimited(state),
  };
}

export function summarizeAllowance({
  limit,
  remaining,
  resetAt,
  windowSeconds,
}: AllowanceState): AllowanceSummary {
  return { limit, remaining, resetAt: resetAt === null ? null : toIso(resetAt), windowSeconds };
}
