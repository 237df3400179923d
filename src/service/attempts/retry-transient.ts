import pRetry from "p-retry";
import type { Clock } from "../clock.ts";
import { isTransient, type ServiceError } from "../service-error.ts";
import { backoffMillis, type RetryPolicy } from "./retry-policy.ts";

/**
 * Goes on after a first attempt that has failed with `failure`, until one succeeds, fails for good, or the policy's
 * retries are used up; then it rejects with the last failure. Taking the failed attempt over keeps attempts that
 * succeed at once free of any retrying.
 */
export function retryTransient<Result>(
  failure: ServiceError,
  attempt: () => Promise<Result>,
  { policy, clock, signal }: { policy: RetryPolicy; clock: Clock; signal: AbortSignal | undefined },
): Promise<Result> {
  return pRetry((attemptNumber) => (attemptNumber === 1 ? Promise.reject(failure) : attempt()), {
    retries: policy.maxRetries,
    minTimeout: 0, // the waiting is ours, by the injected clock
    ...(signal === undefined ? {} : { signal }),
    shouldRetry: ({ error }) => isTransient(error),
    onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
      if (retriesLeft === 0 || !isTransient(error)) return;
      await clock.sleep(backoffMillis(attemptNumber, policy, clock.random()), signal);
    },
  });
}
