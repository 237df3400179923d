/**
 * The permits of one run: leases of the ledger, within the run's own budget. In: every attempt before it is sent, and its
 * report. Out: a permit, at once or after running requests end; or a refusal, which ends the run. It does not know what is
 * fetched, and sends nothing itself.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import type { StopReason } from "../../mirror/runs/runs.ts";
import { type Clock, dayMillis } from "../../platform/clock.ts";
import { ServiceError } from "../../service/errors.ts";
import type { RateLimitHeaders } from "../../service/requests/headers.ts";
import { type AttemptReport, noResponse, type RateLimiter } from "../../service/requests/rate-limiter.ts";
import { defaultRetryPolicy } from "../../service/requests/retry-policy.ts";
import { defaultLimits } from "../../service/transport/pool.ts";
import { reportsRemaining, spendingOf } from "./infer-prices.ts";
import { describeWindow, type KnownAllowance } from "./known-allowance.ts";
import { Leases } from "./leases.ts";
import { decideNextStep, type NextStep } from "./refusals/refusal-counts.ts";
import { maxWaitMillis } from "./reported-limits.ts";
import type { Ledger } from "./store/ledger-store.ts";
import type { Lease } from "./window-events.ts";

export interface RequestCounts {
  /** Requests of HTTP, repeated ones included. */
  sent: number;
  /**
   * Requests that spent allowance, as far as is known, and all that may have: those without a response, and a root that is
   * read first in a window that others have begun, whose price no response shows.
   */
  counted: number;
  /** Responses with 304. */
  notModified: number;
  /** Attempts after the first of a fetch. */
  retried: number;
  /** Resources whose request failed, after all its attempts. */
  failed: number;
}

export interface RunBudget {
  readonly acquirePermit: RateLimiter;
  readonly counts: RequestCounts;
  /** Those of the counted requests that had no response. */
  readonly unanswered: number;
  readonly state: KnownAllowance;
  /** Why the last permit was refused. */
  readonly refusal: Extract<StopReason, "budget" | "allowance"> | null;
  /** Whether no request is running. */
  readonly isIdle: boolean;
  /** The longest wait that is accepted from the service. */
  readonly maxWaitMillis: number;
  /** Other requests wait for their permits until this work ends; those of the work itself do not. */
  holdOthers<Result>(work: () => Promise<Result>): Promise<Result>;
  /** What to do after a refusal without a reason. */
  readonly nextStep: NextStep;
  /** The remaining count, if a response reported it after this; and a mark to compare with. */
  reportedSince(mark: number): number | null;
  readonly mark: number;
  /** The remaining count in the newest response; null if it had none. */
  readonly newestRest: number | null;
  /** Whether the response to an unchanged, conditional request was surely counted. */
  readonly isCheckCounted: boolean;
  countProbe(): void;
  /** Forgets refusals whose reason is known now; default: all. */
  settleRefusals(count?: number): void;
  /** Records that nothing remains, although no response said so. */
  recordSpent(): void;
  /** Records that no request is to be sent before `until`, in epoch milliseconds. @param isOutage whether the service is down */
  recordWait(until: number, isOutage: boolean): void;
  /** Records the body of the `rate_limit` resource. To be called after that request, while no other is running. */
  recordLimits(reading: RateLimitHeaders): void;
  /** Records that the `rate_limit` resource supplied no remaining count. */
  recordUnreadableBody(): void;
  /** Whether the `rate_limit` resource is worth a request: not for a week after it supplied no remaining count. */
  readonly mayReadBody: boolean;
  /** Stores all that the ledger does not know yet; then the state is exact. To be called while no request is running. */
  settle(): void;
  /** Releases all leases, and closes the ledger. */
  close(): void;
}

export interface RunBudgetOptions {
  readonly ledger: Ledger;
  /** The base URL: whether the root is counted is inferred separately. */
  readonly rootUrl: string;
  /** At most so many counted requests; null for as many as the service grants. */
  readonly budget: number | null;
  /** Requests of the allowance to leave unspent. */
  readonly reserve: number;
  readonly clock: Clock;
}

/** Sent one at a time to learn the price of a 304. Two are enough, unless others spend the same allowance meanwhile. */
const maxPricingRequests = 8;
/** Time between two requests for a `rate_limit` resource without a readable count. */
const unreadableBodyMillis = 7 * dayMillis;
/** Between two reads of the leases of other processes. */
const pollMillis = 50;
/** Longer than any attempt of theirs takes. */
const maxPolls = (2 * defaultLimits.totalTimeoutMillis) / pollMillis;

/** @throws LedgerError, as all its methods do */
export function createRunBudget(options: RunBudgetOptions): RunBudget {
  const { ledger, rootUrl, budget, reserve, clock } = options;
  const leases = new Leases(ledger, reserve, clock.now);
  const counts: RequestCounts = { sent: 0, counted: 0, notModified: 0, retried: 0, failed: 0 };
  let refusal: RunBudget["refusal"] = null;
  let running = 0;
  let unanswered = 0;
  let newestRest: number | null = null;
  /** 304s that are counted or free: the next response shows which, if no other request is running. */
  const unpriced = { checks: 0, roots: 0 };
  let pricingRequests = 0;
  let nextRelease = Promise.withResolvers<void>();
  let holds = 0;
  let holdsEnd = Promise.withResolvers<void>();
  const holding = new AsyncLocalStorage<true>();

  const refuse = (url: string, reason: "budget" | "allowance", resumeAt: number | null): ServiceError => {
    refusal = reason;
    const spent = reason === "budget" ? "the budget of this run" : "the allowance";
    return new ServiceError("allowance-spent", `not requested, because ${spent} is spent`, { url, resumeAt });
  };

  const release = (lease: Lease, isRoot: boolean, report: AttemptReport): void => {
    running--;
    if (report.isTried) counts.sent++;
    if (report.status === 304) counts.notModified++;
    if (report.status !== null) newestRest = report.allowance?.remaining ?? null;
    try {
      leases.release({ lease, isRoot, report });
      const { likely, max } = spendingOf(leases.state, report, isRoot);
      counts.counted += likely;
      if (report.status === null) unanswered += likely;
      if (likely < max && reportsRemaining(report)) unpriced[isRoot ? "roots" : "checks"]++;
      settleUnpriced();
    } finally {
      // Also after an error of the ledger: those who wait meet it themselves. The caller of an unexplained refusal may want
      // to hold the others first.
      if (report.isUnexplained) void setImmediate().then(wake);
      else wake();
    }
  };

  const mayLearnPrice = (): boolean =>
    unpriced.checks + unpriced.roots > 0 && pricingRequests < maxPricingRequests;

  const settleUnpriced = (): void => {
    for (const [key, isRoot] of [
      ["checks", false],
      ["roots", true],
    ] as const) {
      const { min, max } = spendingOf(leases.state, { ...noResponse, status: 304 }, isRoot);
      if (min < max) continue;
      counts.counted += min * unpriced[key];
      unpriced[key] = 0;
    }
  };

  const wake = (): void => {
    nextRelease.resolve();
    nextRelease = Promise.withResolvers();
  };

  return {
    counts,
    get unanswered() {
      return unanswered;
    },
    get state() {
      return describeWindow(leases.state);
    },
    get refusal() {
      return refusal;
    },
    get isIdle() {
      return running === 0;
    },
    async holdOthers(work) {
      holds++;
      try {
        return await holding.run(true, work);
      } finally {
        if (--holds === 0) {
          holdsEnd.resolve();
          holdsEnd = Promise.withResolvers();
        }
      }
    },
    get nextStep() {
      return decideNextStep(leases.state);
    },
    get mark() {
      return leases.state.seq;
    },
    get newestRest() {
      return newestRest;
    },
    get isCheckCounted() {
      return leases.state.isFree304 === false;
    },
    reportedSince(mark) {
      const { readingSeq, isReported, remaining } = leases.state;
      return isReported && readingSeq > mark ? remaining : null;
    },
    settleRefusals: (count) => leases.settleRefusals(count),
    countProbe: () => leases.countProbe(),
    recordSpent: () => leases.recordSpent(),
    recordWait: (until, isOutage) => leases.recordWait(until, isOutage),
    get maxWaitMillis() {
      return maxWaitMillis(leases.state);
    },
    async acquirePermit({ url, signal }) {
      for (let polls = 0; ; ) {
        signal?.throwIfAborted();
        if (holds > 0 && !holding.getStore()) {
          await holdsEnd.promise;
          continue;
        }
        if (budget !== null && counts.counted >= budget) throw refuse(url, "budget", null);
        const isPricing = mayLearnPrice();
        if ((isPricing && running > 0) || (budget !== null && counts.counted + running >= budget)) {
          await nextRelease.promise;
          continue;
        }
        const taken = leases.take(isPricing);
        if (!("do" in taken)) {
          running++;
          if (isPricing) pricingRequests++;
          return { release: release.bind(null, taken, url === rootUrl) };
        }
        switch (taken.do) {
          case "refuse":
            throw refuse(url, "allowance", taken.resumeAt);
          case "pause": {
            const waitMillis = taken.until - clock.now();
            if (waitMillis > defaultRetryPolicy.maxRetryAfterMillis)
              throw refuse(url, "allowance", taken.until);
            await clock.sleep(waitMillis, signal);
            leases.endPause(taken.until);
            break;
          }
          case "wait":
            if (running > 0) await nextRelease.promise;
            else {
              if (++polls > maxPolls) throw refuse(url, "allowance", leases.state.resetAt?.at ?? null);
              await clock.sleep(pollMillis, signal);
              await setImmediate();
            }
        }
      }
    },
    recordLimits: (reading) => leases.recordLimits(reading),
    recordUnreadableBody: () => leases.recordUnreadableBody(),
    get mayReadBody() {
      const { unreadableBodyAt } = leases.state;
      const age = clock.now() - (unreadableBodyAt ?? Number.NEGATIVE_INFINITY);
      // A time in the future comes from a clock that was put back since.
      return age < 0 || age >= unreadableBodyMillis;
    },
    settle: () => leases.settle(),
    close: () => leases.close(),
  };
}
