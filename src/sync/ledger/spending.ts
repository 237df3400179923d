import type { AttemptReport } from "../../service/answers/reserve.ts";
import { tells } from "./sorts.ts";
import { isBoundless, type WindowState } from "./window-state.ts";

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
  return status === 304 && (tells(report) || isBoundless(state)) ? { ...perhaps, likely: 0 } : perhaps;
}

/** What is known of the price of a check that finds nothing changed. */
export type CheckPrice =
  | "free"
  | "counted"
  /** Taken for counted, since nothing tells; but checks are made as if they were free, because only they can show it. */
  | "untried";

export function checkPriceOf(state: WindowState): CheckPrice {
  if (state.isFree304 !== null) return state.isFree304 ? "free" : "counted";
  return state.isTelling === false && !isBoundless(state) ? "untried" : "free";
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
