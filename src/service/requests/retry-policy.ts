/**
 * Whether a failed request is sent again, and when. In: a status, its headers, an error. Out: a decision. Pure.
 *
 * A 429 with `Retry-After` waits that long, if it is at most a minute. A 429 without it is retried like an overloaded
 * service: at most 3 times, with exponential backoff; then the caller finds out whether it concerns all resources. A 429 or
 * 403 that says that nothing remains ends the run.
 */
import { dayMillis } from "../../platform/clock.ts";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";
import type { RateLimitHeaders } from "./headers.ts";

export interface RetryPolicy {
  /** After the first attempt; waits for `Retry-After` are not counted. */
  readonly maxRetries: number;
  readonly minDelayMillis: number;
  readonly maxDelayMillis: number;
  /** A longer `Retry-After` is not waited for: the fetch ends with `stop-allowance` and `resumeAt`. */
  readonly maxRetryAfterMillis: number;
  /** The maximum number of waits for `Retry-After` during one fetch. */
  readonly maxThrottles: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  maxRetries: 3,
  minDelayMillis: 500,
  maxDelayMillis: 30_000,
  maxRetryAfterMillis: 60_000,
  maxThrottles: 5,
};

/** A 429 or 403 that is repeated after so many waits for its `Retry-After` may concern one resource. */
export const maxBelievedWaits = 1;

/** The longest wait for one resource that is refused alone. */
export const maxPostponedMillis = dayMillis;

/** Failures that may pass within seconds. */
const retriedCodes: ReadonlySet<ServiceErrorCode> = new Set([
  "unreachable",
  "connection-lost",
  "timeout",
  "incomplete-body",
  "malformed-response",
  "server-error",
  "busy",
  "worker-lost",
]);

export function isRetried(error: unknown): error is ServiceError {
  // A retry of an unexplained refusal could be refused again; the caller finds out why first.
  return error instanceof ServiceError && retriedCodes.has(error.code) && !error.isUnexplained;
}

/**
 * Exponential, capped, with jitter over the upper half, so that many clients do not return at the same moment.
 * @param attempt the number of the attempt that failed, from 1
 * @param random in [0, 1)
 */
export function backoffMillis(attempt: number, policy: RetryPolicy, random: number): number {
  const ceiling = Math.min(policy.maxDelayMillis, policy.minDelayMillis * 2 ** (attempt - 1));
  return Math.round(ceiling * (0.5 + random / 2));
}

export interface Refusal {
  readonly status: number;
  /** Of an error body, if there is one. */
  readonly message: string | null;
  readonly allowance: RateLimitHeaders | null;
  /** From `Retry-After`, in epoch milliseconds. */
  readonly retryAt: number | null;
}

export type RefusalDecision =
  | { readonly do: "stop"; readonly resumeAt: number | null }
  | { readonly do: "wait"; readonly retryAt: number }
  | { readonly do: "retry" };

/**
 * Whether a 403 or 429 says neither when to come back, nor what remains, nor that a scope is missing. It then means that the
 * resource is forbidden, that the allowance is spent, or that the client is blocked. A `Retry-After` that cannot be read says
 * nothing.
 */
export function isUnexplainedRefusal({ status, message, allowance, retryAt }: Refusal): boolean {
  if ((status !== 403 && status !== 429) || retryAt !== null) return false;
  if (allowance !== null && allowance.remaining !== null) return false;
  return !/rate limit|\bscopes?\b/i.test(message ?? "");
}

/** How to react to a 403, 429 or 503; null if it does not concern the rate of requests. */
export function decideRefusal({ status, message, allowance, retryAt }: Refusal): RefusalDecision | null {
  const hasNoneLeft = allowance?.remaining === 0;
  const isSpent =
    (status === 403 && (hasNoneLeft || /rate limit/i.test(message ?? ""))) ||
    (status === 429 && hasNoneLeft && retryAt === null);
  if (isSpent) return { do: "stop", resumeAt: retryAt ?? allowance?.resetAt ?? null };
  const mayWait = status === 403 || status === 429 || status === 503;
  if (mayWait && retryAt !== null) return { do: "wait", retryAt };
  return status === 429 ? { do: "retry" } : null;
}
