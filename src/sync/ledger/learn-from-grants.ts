/**
 * What a 304 costs where no answer tells what remains: windows grant the same, so the price at which this one grants
 * another number than an earlier one is wrong. In: what both were asked for. Out: the price that is left. Pure.
 */
import type { Granted, Sorts } from "./sorts.ts";
import { withPrice } from "./spending.ts";
import { openLeases, type WindowState } from "./window-state.ts";

/** @param state after an answer; `isRefused` where that was a refusal */
export function learnFromGrants(state: WindowState, isRefused: boolean): WindowState {
  const { granted, sorts, plainBefore } = state;
  if (granted === null || state.isTold) return state;
  const others = sorts.others + openLeases(state);
  const now = { ...sorts, others, isAll: isRefused };
  const isNotFree = differ(granted, { ...now, others: others + plainBefore }, 0);
  const isNotCounted = differ(granted, now, 1);
  // Where neither price explains it, it is the limit that has changed.
  return isNotFree === isNotCounted ? state : withPrice(state, isNotCounted);
}

/** What the next windows are compared to, when this one ends. */
export function grantedBy(state: WindowState): Granted | null {
  const { granted, sorts, isRefused, isTold } = state;
  if (isTold || !isAligned(state)) return granted;
  const isMore = granted === null || (!granted.isAll && totalOf(sorts) > totalOf(granted));
  return isRefused || isMore ? { ...sorts, isAll: isRefused } : granted;
}

/**
 * Whether it is one window of the service's, whatever a 304 costs. One that was begun with what is free is not: it ends
 * before the service's does, which then reaches into the next one.
 */
export function isAligned({ sorts, plainBefore }: WindowState): boolean {
  return sorts.isBegunSurely && plainBefore === 0;
}

/** Whether two windows cannot have granted the same, if a 304 costs so much. */
function differ(one: Granted, other: Granted, price: 0 | 1): boolean {
  const least = ({ plain, notModified }: Sorts) => plain + price * notModified;
  const most = (granted: Granted) =>
    granted.isAll ? least(granted) + granted.others : Number.POSITIVE_INFINITY;
  return least(one) > most(other) || least(other) > most(one);
}

function totalOf({ plain, notModified }: Sorts): number {
  return plain + notModified;
}
