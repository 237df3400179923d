/**
 * The times of a window after the local clock was set back. In: a state and the time. Out: the state by this clock. Pure.
 *
 * If a window would now last more than twice as long as it may, it lasts as long as it may from now on: a clock that was
 * once wrong by a year blocks nothing for a year. But the clock may also be wrong now, and be put right later. Then the
 * times from before hold again, so that a spent window stays spent. A clock that is set forward cannot be told from time
 * that has passed.
 */
import { dayMillis } from "../../platform/clock.ts";
import type { Deadline, WindowState, WindowTimes } from "./window.ts";

/** A run waits as long without ending. */
const maxPauseMillis = 60_000;

export function withoutClockJumps(before: WindowState, now: number): WindowState {
  const state = withTimesFromBefore(before, now);
  const blocked = clampDeadline(state.blockedUntil, now);
  const times: WindowTimes = {
    resetAt: clampDeadline(state.resetAt, now),
    blockedUntil: blocked === null || blocked.at <= now ? null : blocked,
    startedBy: clampStart(state.startedBy, now),
    firstRequestAt: clampStart(state.firstRequestAt, now),
    firstCheckAt: clampStart(state.firstCheckAt, now),
    unnoticedStartAt: clampStart(state.unnoticedStartAt, now),
    limitInferredAt: clampStart(state.limitInferredAt, now),
  };
  const names = Object.keys(times) as (keyof WindowTimes)[];
  if (names.every((name) => times[name] === state[name])) return state;
  const from = earliestClock(state);
  const setBack = state.setBack ?? (from > now ? { from, times: timesOf(state) } : null);
  const next = { ...state, ...times, setBack };
  const wasLong = blocked !== null && times.blockedUntil === null && blocked.spanMillis > maxPauseMillis;
  // After a long wait, one request finds out whether it is over.
  return wasLong && !state.isRefused ? { ...next, remaining: null, hasResponse: false } : next;
}

function withTimesFromBefore(state: WindowState, now: number): WindowState {
  const { setBack } = state;
  if (setBack === null || now < setBack.from) return state;
  const { times } = setBack;
  return {
    ...state,
    resetAt: laterDeadline(state.resetAt, times.resetAt),
    blockedUntil: laterDeadline(state.blockedUntil, times.blockedUntil),
    startedBy: laterTime(state.startedBy, times.startedBy),
    firstRequestAt: laterTime(state.firstRequestAt, times.firstRequestAt),
    firstCheckAt: laterTime(state.firstCheckAt, times.firstCheckAt),
    unnoticedStartAt: laterTime(state.unnoticedStartAt, times.unnoticedStartAt),
    limitInferredAt: laterTime(state.limitInferredAt, times.limitInferredAt),
    setBack: null,
  };
}

function timesOf(state: WindowState): WindowTimes {
  const { resetAt, blockedUntil, startedBy, firstRequestAt, firstCheckAt } = state;
  const { unnoticedStartAt, limitInferredAt } = state;
  return {
    ...{ resetAt, blockedUntil, startedBy, firstRequestAt, firstCheckAt },
    ...{ unnoticedStartAt, limitInferredAt },
  };
}

/** The earliest time by which nothing of the window is too far in the future. */
function earliestClock({ resetAt, blockedUntil, ...state }: WindowState): number {
  const { startedBy, firstRequestAt, firstCheckAt, unnoticedStartAt, limitInferredAt } = state;
  const beginnings = [resetAt, blockedUntil].map((end) => (end === null ? null : end.at - end.spanMillis));
  const starts = [startedBy, firstRequestAt, firstCheckAt, unnoticedStartAt, limitInferredAt];
  return Math.max(...[...beginnings, ...starts].filter((at) => at !== null));
}

function clampDeadline(deadline: Deadline | null, now: number): Deadline | null {
  if (deadline === null || deadline.at <= now + 2 * deadline.spanMillis) return deadline;
  return { ...deadline, at: now + deadline.spanMillis };
}

/** A window lasts a day from its start. */
const clampStart = (at: number | null, now: number): number | null =>
  at !== null && at > now + dayMillis ? now : at;

const laterTime = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

const laterDeadline = (a: Deadline | null, b: Deadline | null): Deadline | null =>
  a === null || b === null ? (a ?? b) : a.at >= b.at ? a : b;
