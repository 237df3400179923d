/**
 * Records in the ledger's window what was found out about refusals. In: its state and the time. Out: the next state. Pure.
 */
import { inferFromGrants } from "../infer-prices.ts";
import { blockUntil } from "../reported-limits.ts";
import { type WindowState, withLaterStart } from "../window.ts";
import { renew, withEnd } from "../window-events.ts";
import { maxRequests } from "./refusal-counts.ts";

/** A refusal that did not say so means that nothing remains, or that the client is blocked until the window ends. */
export function recordSpent(before: WindowState, now: number): WindowState {
  const state = renew(before, now);
  if (state.isRefused) return state;
  const seq = state.seq + 1;
  const spent = { ...withLaterStart(state, now), seq, isRefused: true, remaining: 0, readingSeq: seq };
  return withEnd(inferFromGrants(spent, true), now);
}

/**
 * A refusal with a long `Retry-After` that concerns everything: nothing is sent before `until`, and after three refusals in
 * a row, nothing until the window ends.
 * @param isOutage whether the service is down, which says nothing of the allowance
 */
export function recordWait(
  before: WindowState,
  until: number,
  { isOutage }: { readonly isOutage: boolean },
  now: number,
): WindowState {
  const state = renew(before, now);
  if (!isOutage && state.refusalCounts.refusals >= maxRequests) return recordSpent(state, now);
  return { ...state, seq: state.seq + 1, blockedUntil: blockUntil(state, until, now) };
}
