/**
 * Whether a 304 and the root cost anything is learned by comparing what remains before and after: between two moments at
 * which nothing was under way, every plain answer costs one, and what else was spent is the price of the others.
 */
import type { AttemptReport } from "../../service/answers/reserve.ts";
import { tells } from "./sorts.ts";
import { withPrice } from "./spending.ts";
import type { WindowState } from "./window-state.ts";

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

const emptyTally = { plain: 0, notModified: 0, roots: 0, isFromBody: false, isClear: true };

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
  if (isUnclear || tells(report) === tally.isFromBody) return { ...tally, isClear: false };
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
  const next = { ...state, tally: { ...emptyTally, remaining } };
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
  const next = { ...state, tally: { ...emptyTally, isFromBody: true, remaining } };
  if (state.tally === null || !state.tally.isClear || !state.tally.isFromBody) return next;
  const { plain, notModified, roots } = state.tally;
  const others = state.tally.remaining - remaining - (plain - 1);
  if (roots > 0 || notModified < enoughToTell) return next;
  if (others === 0 || others === 1) return withPrice(next, true);
  return others === notModified || others === notModified + 1 ? withPrice(next, false) : next;
}
