import { endsAt, learnedLimit, renew } from "./allowance-window.ts";
import { isBodyOfUse } from "./learn-what-is-free.ts";
import { type Principal, readLatestWindow, readWindow } from "./ledger.ts";
import { type CheckPrice, checkPriceOf } from "./spending.ts";
import { isBoundless, openLeases, type WindowState } from "./window-state.ts";

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
    isBoundless: isBoundless(state),
  };
}
