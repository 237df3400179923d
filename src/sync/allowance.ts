/**
 * What may still be asked in this run: the service's allowance as its answers tell it, and our own budget. Every attempt
 * is reserved here before it is sent, so that no concurrency overshoots: while nothing is known one goes alone, and where
 * little is left the next one waits until it is known whether those under way were counted.
 */

import type { StopReason } from "../mirror/runs.ts";
import type { AllowanceReading } from "../service/allowance-reading.ts";
import type { AttemptReport, Reserve } from "../service/reserve.ts";
import { ServiceError } from "../service/service-error.ts";

export interface RequestCounts {
  sent: number;
  /** What spent allowance: every answered attempt but a 304, and every attempt without an answer, to be safe. */
  counted: number;
  notModified: number;
  /** Attempts beyond the first of a fetch. */
  retried: number;
  failed: number;
}

export interface AllowanceState {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Epoch milliseconds. */
  readonly resetAt: number | null;
}

export interface RunAllowance {
  readonly reserve: Reserve;
  readonly counts: RequestCounts;
  readonly state: AllowanceState;
  /** Why the last reservation was refused. */
  readonly refusal: Extract<StopReason, "budget" | "allowance"> | null;
}

/**
 * @param budget counted requests at most in this run; null for as many as the service grants
 * @param now epoch milliseconds
 */
export function createRunAllowance(budget: number | null, now: () => number): RunAllowance {
  const counts: RequestCounts = { sent: 0, counted: 0, notModified: 0, retried: 0, failed: 0 };
  let state: AllowanceState = { limit: null, remaining: null, resetAt: null };
  let refusal: RunAllowance["refusal"] = null;
  let underWay = 0;
  let isAnswered = false;
  let nextAnswer = Promise.withResolvers<void>();

  const refuse = (url: string, reason: "budget" | "allowance") => {
    refusal = reason;
    const what = reason === "budget" ? "the budget of this run is spent" : "the allowance is spent";
    return new ServiceError("allowance-spent", what, {
      url,
      resumeAt: reason === "budget" ? null : state.resetAt,
    });
  };

  const settle = (report: AttemptReport): void => {
    underWay--;
    if (report.status === 304) counts.notModified++;
    else if (!isFree(report)) counts.counted++;
    if (report.allowance) state = mergeReading(state, report.allowance, now());
    if (report.status !== null) isAnswered = true;
    nextAnswer.resolve();
    nextAnswer = Promise.withResolvers();
  };

  const forgetEndedWindow = (): void => {
    if (state.resetAt === null || state.resetAt > now()) return;
    state = { ...state, remaining: null, resetAt: null };
    isAnswered = false;
  };

  /** How many may be under way together, if each of them is counted. */
  const room = (): number =>
    Math.min(
      isAnswered ? Number.POSITIVE_INFINITY : 1,
      (budget ?? Number.POSITIVE_INFINITY) - counts.counted,
      state.remaining ?? Number.POSITIVE_INFINITY,
    );

  return {
    counts,
    get state() {
      return state;
    },
    get refusal() {
      return refusal;
    },
    async reserve({ url }) {
      for (;;) {
        forgetEndedWindow();
        if (budget !== null && counts.counted >= budget) throw refuse(url, "budget");
        if (state.remaining === 0) throw refuse(url, "allowance");
        if (underWay < room()) break;
        await nextAnswer.promise;
      }
      underWay++;
      counts.sent++;
      return { settle };
    },
  };
}

/** An answer after which nothing of the window is spent yet was free, as the front page's may be; so was a refusal. */
function isFree({ status, allowance }: AttemptReport): boolean {
  if (allowance === null) return false;
  const { limit, remaining } = allowance;
  return (limit !== null && remaining === limit) || (status === 403 && remaining === 0);
}

/** Answers overtake each other: within one window the lowest number is the latest. */
function mergeReading(
  state: AllowanceState,
  { limit, remaining, resetAt: readResetAt }: AllowanceReading,
  nowMillis: number,
): AllowanceState {
  // A window that has ended before it was told of is another clock's: nobody knows when this one ends.
  const resetAt = readResetAt !== null && readResetAt > nowMillis ? readResetAt : null;
  const isLaterWindow = state.resetAt !== null && resetAt !== null && resetAt - state.resetAt >= 5000;
  const isOvertaken =
    remaining === null || (!isLaterWindow && state.remaining !== null && state.remaining < remaining);
  return {
    limit: limit ?? state.limit,
    remaining: isOvertaken ? state.remaining : remaining,
    resetAt: resetAt ?? state.resetAt,
  };
}
