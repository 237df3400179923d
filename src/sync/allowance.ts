/**
 * What may still be asked in this run: the service's allowance as its answers tell it, and our own budget. Every attempt
 * is reserved here before it is sent, so that no concurrency overshoots; while nothing is known, the first goes alone.
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
  let firstAnswer: Promise<void> | null = null;
  let answered: () => void = () => {};

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
    else counts.counted++;
    if (report.allowance) state = mergeReading(state, report.allowance);
    answered();
  };

  return {
    counts,
    get state() {
      return state;
    },
    get refusal() {
      return refusal;
    },
    async reserve({ url }) {
      if (firstAnswer === null) {
        firstAnswer = new Promise((resolve) => {
          answered = resolve;
        });
      } else if (counts.sent > 0) await firstAnswer;
      if (state.resetAt !== null && state.resetAt <= now())
        state = { ...state, remaining: null, resetAt: null };
      if (budget !== null && counts.counted + underWay >= budget) throw refuse(url, "budget");
      if (state.remaining !== null && state.remaining - underWay <= 0) throw refuse(url, "allowance");
      underWay++;
      counts.sent++;
      return { settle };
    },
  };
}

/** Answers overtake each other: within one window the lowest number is the latest. */
function mergeReading(
  state: AllowanceState,
  { limit, remaining, resetAt }: AllowanceReading,
): AllowanceState {
  const isSameWindow = state.resetAt !== null && resetAt !== null && Math.abs(resetAt - state.resetAt) < 5000;
  const isLower =
    remaining === null || (isSameWindow && state.remaining !== null && state.remaining < remaining);
  return {
    limit: limit ?? state.limit,
    remaining: isLower ? state.remaining : remaining,
    resetAt: resetAt ?? state.resetAt,
  };
}
