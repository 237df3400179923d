/**
 * Taking a lease before each request of a run. In: a request to be sent, later its report. Out: a lease, or the reason for
 * none. With much left, leases are taken and released in blocks, since a transaction costs more than a request. With
 * little left, each lease is in the ledger before its request is sent.
 */
import { dayMillis } from "../../platform/clock.ts";
import type { RateLimitHeaders } from "../../service/requests/headers.ts";
import type { AttemptReport } from "../../service/requests/rate-limiter.ts";
import { recordSpent, recordWait } from "./refusals/record-refusals.ts";
import { isThrottled } from "./refusals/refusal-counts.ts";
import type { Changed, Ledger } from "./store/ledger-store.ts";
import {
  countOpenLeases,
  firstCountableAt,
  isStartOpen,
  isUnlimited,
  type WindowState,
  windowEndsAt,
} from "./window.ts";
import {
  type Lease,
  type LeaseRelease,
  lease,
  recordLimits,
  releaseLease,
  returnLeases,
} from "./window-events.ts";

export type LeaseDecision =
  /** At most `room` leases may be taken. */
  | { readonly do: "send"; readonly room: number }
  /** The spending of running requests is not known yet. */
  | { readonly do: "wait" }
  /** No request before this time, in epoch milliseconds. */
  | { readonly do: "pause"; readonly until: number }
  /** Nothing remains; `resumeAt` in epoch milliseconds. */
  | { readonly do: "refuse"; readonly resumeAt: number | null };

/**
 * Decides whether another request may be sent now. Pure.
 * @param state renewed at this time
 * @param reserve requests of the allowance to leave unspent
 */
export function decideLease(state: WindowState, reserve: number): LeaseDecision {
  if (state.blockedUntil !== null) return { do: "pause", until: state.blockedUntil.at };
  const max = maxOpenLeases(state, reserve);
  if (max <= 0) return { do: "refuse", resumeAt: windowEndsAt(state) ?? limitExpiresAt(state, reserve) };
  const isUncertain = isThrottled(state) || (state.remaining === null && isStartOpen(state));
  const open = countOpenLeases(state);
  const { remaining = max, resetAt = null } = state.short ?? {};
  if (remaining <= 0 && resetAt !== null && open === 0) return { do: "pause", until: resetAt };
  const room = Math.min(max, remaining, isUncertain ? 1 : max) - open;
  return room > 0 ? { do: "send", room } : { do: "wait" };
}

/** How many requests may run together if each of them is counted. */
function maxOpenLeases(state: WindowState, reserve: number): number {
  const { remaining, hasResponse, limit, confirmedLimit, counted, unreported } = state;
  if (remaining !== null) return remaining - unreported.requests - reserve;
  // The first response shows whether the service reports a remaining count.
  if (!hasResponse) return 1;
  if (limit === null) return isUnlimited(state) ? Number.POSITIVE_INFINITY : 1;
  // What one window granted is granted again. Beyond that, one request at a time finds out whether there is more.
  const left = limit - counted.max - reserve;
  const mayHaveMore = reserve === 0 || left > 0;
  return Math.max((confirmedLimit ?? limit) - counted.max - reserve, mayHaveMore ? 1 : 0);
}

/**
 * An inferred limit may be what other clients left of the real one. If it is not above the reserve, no request would ever
 * correct it, so it is dropped after a day and inferred again.
 */
function dropExpiredLimit(state: WindowState, reserve: number, now: number): WindowState {
  const expiresAt = limitExpiresAt(state, reserve);
  if (expiresAt === null || now < expiresAt) return state;
  return { ...state, limit: null, confirmedLimit: null, limitInferredAt: null, granted: null };
}

/** Epoch milliseconds; null unless the reserve takes all of an inferred limit. */
function limitExpiresAt(state: WindowState, reserve: number): number | null {
  const { limit, limitInferredAt } = state;
  if (limit === null || limitInferredAt === null || limit > reserve || firstCountableAt(state) !== null)
    return null;
  return limitInferredAt + dayMillis;
}

const blockSize = 256;
/** With less room, a block could take leases that other processes need. */
const minRoomForBlock = 1_000;

type Refusal = Exclude<LeaseDecision, { do: "send" }>;

interface Block {
  readonly lease: Lease;
  readonly leases: number;
  readonly isInBlocks: boolean;
}

/** The leases of one run. */
export class Leases {
  readonly #ledger: Ledger;
  readonly #reserve: number;
  readonly #now: () => number;
  #state: WindowState;
  #newest: Lease;
  /** Leases taken and not used yet. */
  #unused = 0;
  #isInBlocks = false;
  #releases: LeaseRelease[] = [];

  /**
   * @param reserve requests of the allowance to leave unspent
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

  /** As last read from the ledger, without unused leases. */
  get state(): WindowState {
    return this.#unused === 0 ? this.#state : returnLeases(this.#state, this.#ledger.session, this.#unused);
  }

  /** @param isSingle takes no block, so that the ledger sees each response before the next request */
  take(isSingle = false): Lease | Refusal {
    if (isSingle) this.#isInBlocks = false;
    if (this.#unused === 0 || isSingle) {
      const taken = this.#update<Block | Refusal>((before) => {
        const state = dropExpiredLimit(before, this.#reserve, this.#now());
        const decision = decideLease(state, this.#reserve);
        if (decision.do !== "send") return { state, result: decision };
        const isInBlocks = !isSingle && decision.room >= minRoomForBlock;
        const leases = isInBlocks ? blockSize : 1;
        const leased = lease(state, this.#ledger.session, leases);
        return { state: leased.state, result: { lease: leased.lease, leases, isInBlocks } };
      });
      if ("do" in taken) return taken;
      this.#newest = taken.lease;
      this.#unused = taken.leases;
      this.#isInBlocks = taken.isInBlocks;
    }
    this.#unused--;
    return this.#newest;
  }

  release(release: LeaseRelease): void {
    this.#releases.push(release);
    if (isRunningLow(release.report)) this.#isInBlocks = false;
    // The next block stores the releases of the current one.
    if (!this.#isInBlocks) this.#storeReleases();
  }

  /** Records the body of the `rate_limit` resource, which the last released request fetched. */
  recordLimits(reading: RateLimitHeaders): void {
    const { seq } = this.#state;
    this.#update((state) => ({ state: recordLimits(state, reading, seq, this.#now()), result: null }));
  }

  /** Records that the last request for the `rate_limit` resource supplied no remaining count. */
  recordUnreadableBody(): void {
    const unreadableBodyAt = this.#now();
    this.#update((state) => ({ state: { ...state, unreadableBodyAt }, result: null }));
  }

  /** Counts a request that is sent to find out why another one was refused. */
  countProbe(): void {
    this.#update((state) => {
      const refusalCounts = { ...state.refusalCounts, probes: state.refusalCounts.probes + 1 };
      return { state: { ...state, refusalCounts }, result: null };
    });
  }

  /** Forgets unexplained refusals whose reason is known now; default: all, also those with `Retry-After`. */
  settleRefusals(count = Number.POSITIVE_INFINITY): void {
    this.#update((state) => {
      const { refusals, throttles } = state.refusalCounts;
      const left = {
        refusals: Math.max(0, refusals - count),
        throttles: Math.max(0, throttles - count),
      };
      return { state: { ...state, refusalCounts: { ...state.refusalCounts, ...left } }, result: null };
    });
  }

  /** Records that the service grants no more in this window, although it did not say so. */
  recordSpent(): void {
    this.#update((state) => ({ state: recordSpent(state, this.#now()), result: null }));
  }

  /** Records that no request is to be sent before `until`. @param isOutage whether the service is down */
  recordWait(until: number, isOutage: boolean): void {
    this.#update((state) => ({ state: recordWait(state, until, { isOutage }, this.#now()), result: null }));
  }

  /** Ends a pause after its sleep, even if the clock was set back meanwhile. */
  endPause(until: number): void {
    this.#update((state) => {
      const isOver = state.blockedUntil !== null && state.blockedUntil.at <= until;
      return { state: isOver ? { ...state, blockedUntil: null } : state, result: null };
    });
  }

  /** Ends the current block: the ledger then has all releases, and no unused leases. */
  settle(): void {
    this.#isInBlocks = false;
    this.#storeReleases();
  }

  close(): void {
    this.settle();
    this.#ledger.close();
  }

  #storeReleases(): void {
    this.#update((state) => ({ state, result: null }));
  }

  /** Every transaction stores pending releases, and returns unused leases once blocks have ended. */
  #update<Result>(change: (state: WindowState) => Changed<Result>): Result {
    const now = this.#now();
    const releases = this.#releases;
    this.#releases = [];
    const unused = this.#isInBlocks ? 0 : this.#unused;
    this.#unused -= unused;
    const { state, result } = this.#ledger.update((before) => {
      const released = releases.reduce((state, release) => releaseLease(state, release, now), before);
      return change(unused === 0 ? released : returnLeases(released, this.#ledger.session, unused));
    }, now);
    this.#state = state;
    return result;
  }
}

function isRunningLow({ allowance, isRefusal, retryAt }: AttemptReport): boolean {
  if (isRefusal || retryAt !== null) return true;
  const { remaining, short } = allowance ?? {};
  return Math.min(remaining ?? minRoomForBlock, short?.remaining ?? minRoomForBlock) < minRoomForBlock;
}
