/** Whether another request may be sent now: the one place that decides. Pure. */
import { endsAt, uselessUntil } from "./allowance-window.ts";
import { isBoundless, openLeases, type WindowState } from "./window-state.ts";

export type Decision =
  /** As many may be leased. */
  | { readonly do: "send"; readonly room: number }
  /** Nobody knows yet what those under way have spent. */
  | { readonly do: "wait" }
  /** Not before this moment, in epoch milliseconds. */
  | { readonly do: "pause"; readonly until: number }
  /** Nothing is left; `resumeAt` in epoch milliseconds. */
  | { readonly do: "refuse"; readonly resumeAt: number | null };

/**
 * @param state renewed at this time
 * @param keep requests to leave for others
 */
export function decide(state: WindowState, keep: number): Decision {
  if (state.blockedUntil !== null) return { do: "pause", until: state.blockedUntil.at };
  const most = mostUnderWay(state, keep);
  if (most <= 0) return { do: "refuse", resumeAt: endsAt(state) ?? uselessUntil(state, keep) };
  const room = most - openLeases(state);
  return room > 0 ? { do: "send", room } : { do: "wait" };
}

/** How many may be under way together, if each of them is counted. */
function mostUnderWay(state: WindowState, keep: number): number {
  const { remaining, isAnswered, limit, surelyGranted, counted, untold } = state;
  if (remaining !== null) return remaining - untold.requests - keep;
  // Until it is known whether the service tells anything, one goes alone.
  if (!isAnswered) return 1;
  if (limit === null) return isBoundless(state) ? Number.POSITIVE_INFINITY : 1;
  // What a window has granted is granted again; beyond it one at a time finds out whether there is more.
  const left = limit - counted.most - keep;
  const isMore = keep === 0 || left > 0;
  return Math.max((surelyGranted ?? limit) - counted.most - keep, isMore ? 1 : 0);
}
