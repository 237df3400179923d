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
  const { origin, limits, policy, clock } = context;
  const circuit = new Circuit(clock);
  return async (request) => {
    const { url, signal } = request;
    signal?.throwIfAborted();
    const resolved = resolveLink(url, origin, origin);
    if ("skipped" in resolved)
      throw new ServiceError("link-refused", `not an address to follow (${resolved.skipped})`, { url });
    circuit.throwIfOpen(url);
    const first = { ...request, target: resolved.url };
    const attempt = () => attemptUntilDecided(first, context, circuit.limitRedirects(limits.maxRedirects));
    const retryWith = (failure: ServiceError, maxRetries: number) =>
      circuit.record(retry(failure, attempt, { policy: { ...policy, maxRetries }, clock, signal }));
    // A single request that finds out something says nothing of those that fail.
    if (request.maxRetries === 0) return await attempt();
    // A fetch that succeeds at once needs no retry machinery, which costs more than the rest of this function.
    return await attempt().then(
      (fetched) => {
        circuit.succeed();
        return fetched;
      },
      (error: unknown) => {
        if (!isRetried(error)) return circuit.record(Promise.reject(error));
        if (request.maxRetries !== undefined) return retryWith(error, request.maxRetries);
        return circuit.takeTurn(() => retryWith(error, circuit.limitRetries(policy.maxRetries)));
      },
    );
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
  { attempt, origin, policy, clock }: FetchContext<Fetched>,
  maxRedirects: number,
): Promise<Fetched> {
  let request = first;
  let waits = 0;
  /** Without cookies, a second request would be redirected as the first one was. */
  const targets = new Set([first.target]);
  let isUnconditional = false;
  for (;;) {
    const action = await attempt(request);
    switch (action.do) {
      case "return":
        return action.fetched;
      case "redirect": {
        const target = resolveLocation(action.location, request.target, origin);
        const isCircle = targets.has(target);
        targets.add(target);
        if (isCircle || targets.size > maxRedirects + 1) {
          const detail = isCircle ? "redirected in a circle" : `redirected more than ${maxRedirects} times`;
          throw new ServiceError("too-many-redirects", detail, request);
        }
        request = { ...request, target };
        break;
      }
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

/** After one fetch has failed with all its retries, the next one gets a single retry, and further ones none. */
const retriesOfNext = 1;
/** After one fetch was redirected in circles. */
const redirectsOfNext = 1;

/**
 * Spares a service that is down. While nothing succeeds, one fetch at a time is retried, and each one less often. After ten
 * fetches in a row have failed, it refuses for a minute, or as long as the service demands; then fetches pass again, and the
 * first failure opens it again.
 */
class Circuit {
  readonly #clock: Clock;
  #failuresInARow = 0;
  #hasEndlessRedirects = false;
  #openUntil = 0;
  /** The end of the retries of another fetch. */
  #turn: Promise<unknown> | null = null;
  #nextSuccess = Promise.withResolvers<void>();

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

  limitRetries(maxRetries: number): number {
    if (this.#failuresInARow === 0) return maxRetries;
    return this.#failuresInARow === 1 ? Math.min(maxRetries, retriesOfNext) : 0;
  }

  limitRedirects(maxRedirects: number): number {
    return this.#hasEndlessRedirects ? Math.min(maxRedirects, redirectsOfNext) : maxRedirects;
  }

  /** Waits until no other fetch is retried, or one has succeeded. */
  async takeTurn<Result>(retry: () => Promise<Result>): Promise<Result> {
    let hasSucceeded = false;
    const success = this.#nextSuccess.promise.then(() => {
      hasSucceeded = true;
    });
    while (this.#turn !== null && !hasSucceeded) await Promise.race([this.#turn, success]);
    const result = retry();
    const turn = result.then(
      () => {},
      () => {},
    );
    this.#turn = turn;
    try {
      return await result;
    } finally {
      if (this.#turn === turn) this.#turn = null;
    }
  }

  async record<Fetched>(fetching: Promise<Fetched>): Promise<Fetched> {
    try {
      const fetched = await fetching;
      this.succeed();
      return fetched;
    } catch (error) {
      if (error instanceof ServiceError) this.#fail(error);
      throw error;
    }
  }

  succeed(): void {
    this.#failuresInARow = 0;
    this.#hasEndlessRedirects = false;
    this.#nextSuccess.resolve();
    this.#nextSuccess = Promise.withResolvers();
  }

  #fail(error: ServiceError): void {
    if (error.code === "too-many-redirects") this.#hasEndlessRedirects = true;
    if (!isOutage(error)) return;
    this.#failuresInARow++;
    if (this.#failuresInARow < maxFailuresInARow) return;
    this.#openUntil = Math.max(this.#clock.now() + openMillis, error.resumeAt ?? 0);
  }
}
