import type { AttemptReport } from "../../service/reserve.ts";
import type { WindowState } from "./window-state.ts";

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

export function spendingOf(
  { isFree304, isFreeRoot }: Pick<WindowState, "isFree304" | "isFreeRoot">,
  { status, isRefusal, isSent }: AttemptReport,
  isRoot: boolean,
): Spending {
  if (!isSent || isRefusal) return nothing;
  // No answer means that it may have been counted; an error may be.
  if (status !== 200 && status !== 304) return perhaps;
  if ((isRoot && isFreeRoot === true) || (status === 304 && isFree304 === true)) return nothing;
  const isCounted = (!isRoot || isFreeRoot === false) && (status === 200 || isFree304 === false);
  return isCounted ? one : { ...perhaps, likely: status === 200 ? 1 : 0 };
}
