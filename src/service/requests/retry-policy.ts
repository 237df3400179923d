/** How often and how patiently the door itself tries again. */
export interface RetryPolicy {
  /** After the first attempt, on failures that may pass; waits that the service asked for don't count. */
  readonly maxRetries: number;
  readonly minDelayMillis: number;
  readonly maxDelayMillis: number;
  /** A longer `Retry-After` is not waited out: the fetch ends with `stop-allowance` and `resumeAt`. */
  readonly maxRetryAfterMillis: number;
  /** Waits that the service may ask for in one attempt. */
  readonly maxThrottles: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  maxRetries: 3,
  minDelayMillis: 500,
  maxDelayMillis: 30_000,
  maxRetryAfterMillis: 60_000,
  maxThrottles: 5,
};

/**
 * Exponential, capped, and jittered over its upper half, so that many clients don't come back at the same moment.
 * @param attempt which attempt has just failed, from 1
 * @param random in [0, 1)
 */
export function backoffMillis(attempt: number, policy: RetryPolicy, random: number): number {
  const ceiling = Math.min(policy.maxDelayMillis, policy.minDelayMillis * 2 ** (attempt - 1));
  return Math.round(ceiling * (0.5 + random / 2));
}
