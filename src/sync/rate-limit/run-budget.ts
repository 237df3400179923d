/**
 * What may still be asked in this run: what the ledger leases, within our own budget. In: every attempt before it is sent,
 * and what became of it. Out: a reservation, at once or when those under way are settled; or a refusal, which ends the
 * run. It knows nothing of what is fetched, and sends nothing to find out whether it may send.
 */
import { setImmediate } from "node:timers/promises";
import type { StopReason } from "../../mirror/runs/runs.ts";
import type { Clock } from "../../platform/clock.ts";
import { ServiceError } from "../../service/errors.ts";
import type { RateLimitHeaders } from "../../service/requests/headers.ts";
import type { AttemptReport, RateLimiter } from "../../service/requests/rate-limiter.ts";
import { defaultRetryPolicy } from "../../service/requests/retry-policy.ts";
import { defaultLimits } from "../../service/transport/pool.ts";
import { spendingOf } from "./infer-prices.ts";
import { Leases } from "./leases.ts";
import type { Ledger } from "./ledger.ts";
import { type AllowanceState, describeWindow, type KnownAllowance } from "./window.ts";
import type { Lease } from "./window-events.ts";

export type { AllowanceState };

export interface RequestCounts {
  sent: number;
  /** What spent allowance, as far as is known, and every attempt without an answer that may have, to be safe. */
  counted: number;
  notModified: number;
  /** Attempts beyond the first of a fetch. */
  retried: number;
  failed: number;
}

export interface RunBudget {
  readonly acquirePermit: RateLimiter;
  readonly counts: RequestCounts;
  readonly state: KnownAllowance;
  /** Why the last reservation was refused. */
  readonly refusal: Extract<StopReason, "budget" | "allowance"> | null;
  /** Whether nothing is under way. */
  readonly isIdle: boolean;
  /** What the service said in the body of the last request, when nothing else is under way. */
  recordLimits(reading: RateLimitHeaders): void;
  /** Settles everything, and closes the ledger. */
  close(): void;
}

export interface RunBudgetOptions {
  readonly ledger: Ledger;
  /** The base URL: whether the root is counted is learned by itself. */
  readonly rootUrl: string;
  /** Counted requests at most in this run; null for as many as the service grants. */
  readonly budget: number | null;
  /** Requests of the allowance to leave for others. */
  readonly reserve: number;
  readonly clock: Clock;
}

/** Between two looks at what other processes have under way. */
const pollMillis = 50;
/** Longer than any of their attempts lasts. */
const mostPolls = (2 * defaultLimits.totalTimeoutMillis) / pollMillis;

/** @throws LedgerError, as all its methods do */
export function createRunBudget({ ledger, rootUrl, budget, reserve, clock }: RunBudgetOptions): RunBudget {
  const leases = new Leases(ledger, reserve, clock.now);
  const counts: RequestCounts = { sent: 0, counted: 0, notModified: 0, retried: 0, failed: 0 };
  let refusal: RunBudget["refusal"] = null;
  let underWay = 0;
  let nextAnswer = Promise.withResolvers<void>();

  const refuse = (url: string, reason: "budget" | "allowance", resumeAt: number | null): ServiceError => {
    refusal = reason;
    const what = reason === "budget" ? "the budget of this run is spent" : "the allowance is spent";
    return new ServiceError("allowance-spent", `not asked, because ${what}`, { url, resumeAt });
  };

  const settle = (lease: Lease, isRoot: boolean, report: AttemptReport): void => {
    underWay--;
    if (report.isTried) counts.sent++;
    if (report.status === 304) counts.notModified++;
    leases.settle({ lease, isRoot, report });
    counts.counted += spendingOf(leases.state, report, isRoot).likely;
    nextAnswer.resolve();
    nextAnswer = Promise.withResolvers();
  };

  return {
    counts,
    get state() {
      return describeWindow(leases.state);
    },
    get refusal() {
      return refusal;
    },
    get isIdle() {
      return underWay === 0;
    },
    async acquirePermit({ url, signal }) {
      for (let polls = 0; ; ) {
        signal?.throwIfAborted();
        if (budget !== null && counts.counted >= budget) throw refuse(url, "budget", null);
        if (budget !== null && counts.counted + underWay >= budget) {
          await nextAnswer.promise;
          continue;
        }
        const taken = leases.take();
        if (!("do" in taken)) {
          underWay++;
          return { release: settle.bind(null, taken, url === rootUrl) };
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
            if (underWay > 0) await nextAnswer.promise;
            else {
              if (++polls > mostPolls) throw refuse(url, "allowance", leases.state.resetAt?.at ?? null);
              await clock.sleep(pollMillis, signal);
              await setImmediate();
            }
        }
      }
    },
    recordLimits: (reading) => leases.tell(reading),
    close: () => leases.close(),
  };
}
