/**
 * The leases of one run. In: that a request is to be sent, and what became of it. Out: a lease, or why there is none.
 * Where much is left, leases are taken and settled in blocks, because a transaction for every request would cost more
 * than the request; where little is left, each stands in the ledger before its request is sent.
 */

import type { RateLimitHeaders } from "../../service/requests/headers.ts";
import type { AttemptReport } from "../../service/requests/rate-limiter.ts";
import type { Changed, Ledger } from "./ledger.ts";
import { isUnlimited, openLeases, type WindowState } from "./window.ts";
import {
  endsAt,
  forgetStaleLimit,
  type Lease,
  lease,
  recordLimits,
  returnLease,
  type Settlement,
  settle,
  staleUntil,
} from "./window-events.ts";

const blockSize = 256;
/** Of the room that there must be for a block, so that no block takes what others could use. */
const blockRoom = 1_000;

type Refusal = Exclude<LeaseDecision, { do: "send" }>;

interface Block {
  readonly lease: Lease;
  readonly leases: number;
  readonly isInBlocks: boolean;
}

export class Leases {
  readonly #ledger: Ledger;
  readonly #reserve: number;
  readonly #now: () => number;
  #state: WindowState;
  #newest: Lease;
  /** Leases in hand that no request has used yet. */
  #spare = 0;
  #isInBlocks = false;
  #unsettled: Settlement[] = [];

  /**
   * @param reserve requests to leave for others
   * @param now epoch milliseconds
   * @throws LedgerError, as all its methods do
   */
  constructor(ledger: Ledger, reserve: number, now: () => number) {
    this.#ledger = ledger;
    this.#reserve = reserve;
    this.#now = now;
    this.#newest = { session: ledger.session, seq: 0 };
    this.#state = ledger.update((state) => ({ state, result: null }), now()).state;
  }

  /** As it was last seen in the ledger, without the leases in hand that no request has used. */
  get state(): WindowState {
    return this.#spare === 0 ? this.#state : returnLease(this.#state, this.#ledger.session, this.#spare);
  }

  /** @returns a lease, or what to do instead */
  take(): Lease | Refusal {
    if (this.#spare === 0) {
      const taken = this.#update<Block | Refusal>((before) => {
        const state = forgetStaleLimit(before, this.#reserve, this.#now());
        const decision = decideLease(state, this.#reserve);
        if (decision.do !== "send") return { state, result: decision };
        const isInBlocks = decision.room >= blockRoom;
        const leases = isInBlocks ? blockSize : 1;
        const leased = lease(state, this.#ledger.session, leases);
        return { state: leased.state, result: { lease: leased.lease, leases, isInBlocks } };
      });
      if ("do" in taken) return taken;
      this.#newest = taken.lease;
      this.#spare = taken.leases;
      this.#isInBlocks = taken.isInBlocks;
    }
    this.#spare--;
    return this.#newest;
  }

  settle(settlement: Settlement): void {
    this.#unsettled.push(settlement);
    if (isRunningLow(settlement.report)) this.#isInBlocks = false;
    // Within blocks, the next block settles the one before.
    if (!this.#isInBlocks) this.#settleAll();
  }

  /** What the service said in the body of the request that was settled last. */
  tell(reading: RateLimitHeaders): void {
    const { seq } = this.#state;
    this.#update((state) => ({ state: recordLimits(state, reading, seq, this.#now()), result: null }));
  }

  /** The wait that the service asked for is over, whatever the clock says. */
  endPause(until: number): void {
    this.#update((state) => ({
      state:
        state.blockedUntil !== null && state.blockedUntil.at <= until
          ? { ...state, blockedUntil: null }
          : state,
      result: null,
    }));
  }

  close(): void {
    this.#isInBlocks = false;
    this.#settleAll();
    this.#ledger.close();
  }

  #settleAll(): void {
    this.#update((state) => ({ state, result: null }));
  }

  /** Every transaction settles what was not yet, and gives back what blocks are not needed for any more. */
  #update<Result>(change: (state: WindowState) => Changed<Result>): Result {
    const now = this.#now();
    const unsettled = this.#unsettled;
    this.#unsettled = [];
    const unused = this.#isInBlocks ? 0 : this.#spare;
    this.#spare -= unused;
    const { state, result } = this.#ledger.update((before) => {
      const settled = unsettled.reduce((state, settlement) => settle(state, settlement, now), before);
      return change(unused === 0 ? settled : returnLease(settled, this.#ledger.session, unused));
    }, now);
    this.#state = state;
    return result;
  }
}

function isRunningLow({ allowance, isRefusal, retryAt }: AttemptReport): boolean {
  return isRefusal || retryAt !== null || (allowance?.remaining ?? blockRoom) < blockRoom;
}

/** Whether another request may be sent now: the one place that decides. Pure. */

export type LeaseDecision =
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
 * @param reserve requests to leave for others
 */
export function decideLease(state: WindowState, reserve: number): LeaseDecision {
  if (state.blockedUntil !== null) return { do: "pause", until: state.blockedUntil.at };
  const most = mostUnderWay(state, reserve);
  if (most <= 0) return { do: "refuse", resumeAt: endsAt(state) ?? staleUntil(state, reserve) };
  const room = most - openLeases(state);
  return room > 0 ? { do: "send", room } : { do: "wait" };
}

/** How many may be under way together, if each of them is counted. */
function mostUnderWay(state: WindowState, reserve: number): number {
  const { remaining, isAnswered, limit, surelyGranted, counted, untold } = state;
  if (remaining !== null) return remaining - untold.requests - reserve;
  // Until it is known whether the service tells anything, one goes alone.
  if (!isAnswered) return 1;
  if (limit === null) return isUnlimited(state) ? Number.POSITIVE_INFINITY : 1;
  // What a window has granted is granted again; beyond it one at a time finds out whether there is more.
  const left = limit - counted.most - reserve;
  const isMore = reserve === 0 || left > 0;
  return Math.max((surelyGranted ?? limit) - counted.most - reserve, isMore ? 1 : 0);
}
