/**
 * Fetches one address: attempts until one decides, through redirects, waits, retries, and a circuit breaker for a service
 * that is down.
 */
import pRetry from "p-retry";
import type { Clock } from "../../platform/clock.ts";
import { ServiceError } from "../errors.ts";
import { resolveLink } from "../same-origin.ts";
import type { ServiceLimits } from "../transport/pool.ts";
import type { Attempt, ServiceRequest } from "./attempt.ts";
import { backoffMillis, isRetried, type RetryPolicy } from "./retry-policy.ts";

export interface FetchContext<Fetched> {
  readonly attempt: Attempt<Fetched>;
  /** The only origin that is contacted. */
  readonly origin: string;
  readonly limits: ServiceLimits;
  readonly policy: RetryPolicy;
  readonly clock: Clock;
}

/** @throws ServiceError; what the rate limiter rejects with; the reason of the request's signal */
export type Fetch<Fetched> = (request: Omit<ServiceRequest, "target">) => Promise<Fetched>;

/** One circuit breaker covers all fetches of the returned function. */
export function createFetch<Fetched>(context: FetchContext<Fetched>): Fetch<Fetched> {
  const { origin, policy, clock } = context;
  const circuit = new Circuit(clock);
  return async (request) => {
    const { url, signal } = request;
    signal?.throwIfAborted();
    const resolved = resolveLink(url, origin, origin);
    if ("skipped" in resolved)
      throw new ServiceError("link-refused", `not an address to follow (${resolved.skipped})`, { url });
    circuit.throwIfOpen(url);
    const first = { ...request, target: resolved.url };
    try {
      // A fetch that succeeds at once needs no retry machinery, which costs more than the rest of this function.
      const fetched = await attemptUntilDecided(first, context).catch((error: unknown) => {
        if (!isRetried(error)) throw error;
        return retry(error, () => attemptUntilDecided(first, context), { policy, clock, signal });
      });
      circuit.succeed();
      return fetched;
    } catch (error) {
      if (error instanceof ServiceError && isOutage(error)) circuit.fail(error.resumeAt);
      throw error;
    }
  };
}

/** A 503 with a long `Retry-After` may concern one resource; if each one has it, the service is down. */
function isOutage({ next, code, status }: ServiceError): boolean {
  return next === "retry" || (code === "throttled" && status === 503);
}

/** Continues after a first attempt that failed with `failure`. Rejects with the last failure. */
function retry<Result>(
  failure: ServiceError,
  attempt: () => Promise<Result>,
  { policy, clock, signal }: { policy: RetryPolicy; clock: Clock; signal: AbortSignal | undefined },
): Promise<Result> {
  return pRetry((attemptNumber) => (attemptNumber === 1 ? Promise.reject(failure) : attempt()), {
    retries: policy.maxRetries,
    // The delay below uses the injected clock.
    minTimeout: 0,
    ...(signal === undefined ? {} : { signal }),
    shouldRetry: ({ error }) => isRetried(error),
    onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
      if (retriesLeft === 0 || !isRetried(error)) return;
      await clock.sleep(backoffMillis(attemptNumber, policy, clock.random()), signal);
    },
  });
}

/** Follows redirects, waits for `Retry-After`, and drops a misunderstood validator; each a limited number of times. */
async function attemptUntilDecided<Fetched>(
  first: ServiceRequest,
  { attempt, origin, limits, policy, clock }: FetchContext<Fetched>,
): Promise<Fetched> {
  let request = first;
  let redirects = 0;
  let waits = 0;
  let isUnconditional = false;
  for (;;) {
    const action = await attempt(request);
    switch (action.do) {
      case "return":
        return action.fetched;
      case "redirect":
        if (++redirects > limits.maxRedirects) {
          const detail = `redirected more than ${limits.maxRedirects} times`;
          throw new ServiceError("too-many-redirects", detail, request);
        }
        request = { ...request, target: resolveLocation(action.location, request.target, origin) };
        break;
      case "retry-unconditionally":
        if (isUnconditional) throw action.error;
        isUnconditional = true;
        request = { ...request, etag: null, lastModified: null };
        break;
      case "wait": {
        const waitMillis = action.retryAt - clock.now();
        if (waitMillis > policy.maxRetryAfterMillis || ++waits > policy.maxThrottles) throw action.error;
        await clock.sleep(Math.max(waitMillis, policy.minDelayMillis), request.signal);
        request = { ...request, waits };
      }
    }
  }
}

/** @throws ServiceError */
function resolveLocation(location: string, from: string, origin: string): string {
  const resolved = resolveLink(location, from, origin);
  if ("url" in resolved) return resolved.url;
  const detail = `redirected to an address that is not followed (${resolved.skipped})`;
  throw new ServiceError("redirect-refused", detail, { url: from });
}

const maxFailuresInARow = 10;
const openMillis = 60_000;

/**
 * Stops requests to a service that is down. After ten fetches in a row have failed with all their retries, it refuses for
 * a minute, or as long as the service demands; then fetches pass again, and the first failure opens it again.
 */
class Circuit {
  readonly #clock: Clock;
  #failuresInARow = 0;
  #openUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws ServiceError `circuit-open` */
  throwIfOpen(url: string): void {
    if (this.#openUntil > this.#clock.now()) {
      const detail = `not requested: the last ${this.#failuresInARow} resources failed`;
      throw new ServiceError("circuit-open", detail, { url, resumeAt: this.#openUntil });
    }
  }

  succeed(): void {
    this.#failuresInARow = 0;
  }

  /** @param resumeAt epoch milliseconds, if the service gave a time */
  fail(resumeAt: number | null): void {
    this.#failuresInARow++;
    if (this.#failuresInARow < maxFailuresInARow) return;
    this.#openUntil = Math.max(this.#clock.now() + openMillis, resumeAt ?? 0);
  }
}
