import pRetry from "p-retry";
import type { Clock } from "../../platform/clock.ts";
import { isTransient, ServiceError } from "../errors.ts";
import { resolveLink } from "../same-origin.ts";
import type { ServiceLimits } from "../transport/pool.ts";
import type { Attempt, ServiceRequest } from "./attempt.ts";
import { backoffMillis, type RetryPolicy } from "./retry-policy.ts";

/**
 * Asks, again where that may help, and not at all while too much has failed in a row.
 * @throws ServiceError
 */
export async function fetchWithRetry<Fetched>(
  ask: ServiceRequest,
  parts: RetryContext<Fetched>,
  circuit: Circuit,
): Promise<Fetched> {
  const { policy, clock } = parts;
  circuit.passOrThrow(ask.url);
  try {
    const fetched = await followRedirects(ask, parts).catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      return retryTransient(error, () => followRedirects(ask, parts), { policy, clock, signal: ask.signal });
    });
    circuit.succeed();
    return fetched;
  } catch (error) {
    if (error instanceof ServiceError && error.next === "retry") circuit.fail();
    throw error;
  }
}

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

export interface RetryContext<Fetched> {
  readonly attempt: Attempt<Fetched>;
  readonly origin: string;
  readonly limits: ServiceLimits;
  readonly policy: RetryPolicy;
  readonly clock: Clock;
}

/**
 * Attempts until one decides: through redirects, waits that the service asks for, and a 304 that was not asked for, each
 * of them so many times at most.
 * @throws ServiceError
 */
export async function followRedirects<Fetched>(
  first: ServiceRequest,
  { attempt, origin, limits, policy, clock }: RetryContext<Fetched>,
): Promise<Fetched> {
  let ask = first;
  let redirects = 0;
  let throttles = 0;
  let hasAskedPlainly = false;
  for (;;) {
    const verdict = await attempt(ask);
    switch (verdict.do) {
      case "return":
        return verdict.fetched;
      case "redirect":
        if (++redirects > limits.maxRedirects) {
          throw new ServiceError(
            "too-many-redirects",
            `redirected more than ${limits.maxRedirects} times`,
            ask,
          );
        }
        ask = { ...ask, target: readLocationOrThrow(verdict.location, ask.target, origin) };
        break;
      case "ask-plainly":
        if (hasAskedPlainly) throw verdict.error;
        hasAskedPlainly = true;
        ask = { ...ask, etag: null, lastModified: null };
        break;
      case "wait": {
        const waitMillis = verdict.retryAt - clock.now();
        if (waitMillis > policy.maxRetryAfterMillis || ++throttles > policy.maxThrottles) throw verdict.error;
        await clock.sleep(Math.max(waitMillis, policy.minDelayMillis), ask.signal);
      }
    }
  }
}

function readLocationOrThrow(location: string, from: string, origin: string): string {
  const resolved = resolveLink(location, from, origin);
  if ("url" in resolved) return resolved.url;
  throw new ServiceError(
    "redirect-refused",
    `redirected to an address that is not followed (${resolved.skipped})`,
    { url: from },
  );
}

const maxFailuresInARow = 10;
const coolOffMillis = 60_000;

/**
 * Stops asking a service that is down. After ten fetches in a row have failed with all their retries, it refuses at once
 * for a minute; then fetches pass again, and the first failure closes the way for another minute.
 */
export class Circuit {
  readonly #clock: Clock;
  #failuresInARow = 0;
  #openUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws ServiceError */
  passOrThrow(url: string): void {
    if (this.#openUntil > this.#clock.now()) {
      const detail = `not asked, because the last ${this.#failuresInARow} resources failed`;
      throw new ServiceError("circuit-open", detail, { url, resumeAt: this.#openUntil });
    }
  }

  succeed(): void {
    this.#failuresInARow = 0;
  }

  fail(): void {
    this.#failuresInARow++;
    if (this.#failuresInARow >= maxFailuresInARow) this.#openUntil = this.#clock.now() + coolOffMillis;
  }
}
