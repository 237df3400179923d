/**
 * Whether a 304 and the root cost anything is learned by comparing what remains before and after: between two moments at
 * which nothing was under way, every plain answer costs one, and what else was spent is the price of the others.
 */
import type { AttemptReport } from "../../service/reserve.ts";
import type { WindowState } from "./window-state.ts";

export interface Tally {
  /** What remained when it began. */
  readonly remaining: number;
  readonly plain: number;
  readonly notModified: number;
  readonly roots: number;
  /** Whether all that happened since is of these three sorts, and told what remained. */
  readonly isClear: boolean;
}

export function countIn(
  tally: Tally | null,
  { status, allowance }: AttemptReport,
  isRoot: boolean,
): Tally | null {
  if (tally === null) return null;
  // A root that is not modified may be free for either reason.
  const isUnclear = isRoot ? status !== 200 : status !== 200 && status !== 304;
  if (isUnclear || typeof allowance?.remaining !== "number") return { ...tally, isClear: false };
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
  return status === 304 ? { ...state, isFree304: true } : state;
}

/** @param state at a moment at which nothing is under way and `remaining` was told by the newest answer */
export function learnWhatIsFree(state: WindowState, remaining: number): WindowState {
  const next = { ...state, tally: { remaining, plain: 0, notModified: 0, roots: 0, isClear: true } };
  if (state.tally === null || !state.tally.isClear) return next;
  const { plain, notModified, roots } = state.tally;
  const others = state.tally.remaining - remaining - plain;
  const isFree = others === 0 ? true : others === notModified + roots ? false : null;
  if (isFree === null) return next;
  if (notModified > 0 && roots === 0) return { ...next, isFree304: isFree };
  return roots > 0 && notModified === 0 ? { ...next, isFreeRoot: isFree } : next;
}
