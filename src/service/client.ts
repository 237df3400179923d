/**
 * The only HTTP client for the service. In: an address that the service gave, and the validator of the held body. Out: a
 * FetchResponse, or a ServiceError that says what to do next. It attaches the credential when sending, only for the base
 * URL's origin. It knows nothing of kinds, mirrors or runs.
 */
import { type Clock, systemClock } from "../platform/clock.ts";
import { type Credential, redact } from "./credentials/credential.ts";
import type { FetchResponse } from "./fetch-result.ts";
import { createAttempt } from "./requests/attempt.ts";
import { createFetch } from "./requests/fetch-with-retry.ts";
import { readHeldValidator } from "./requests/headers.ts";
import { interpretResponse } from "./requests/interpret-response.ts";
import type { RateLimiter } from "./requests/rate-limiter.ts";
import { defaultRetryPolicy, type RetryPolicy } from "./requests/retry-policy.ts";
import { readOriginOrThrow } from "./same-origin.ts";
import { defaultLimits, type ServiceLimits } from "./transport/pool.ts";
import { openServiceTransport, type Transport } from "./transport/transport.ts";

export interface ServiceClientOptions {
  /** `http:` or `https:`; no other origin is ever contacted. */
  readonly baseUrl: string;
  readonly credential?: Credential | null;
  readonly rateLimiter?: RateLimiter;
  /** Closed with the client. Default: this process sends. */
  readonly transport?: Transport;
  /** At most so many sockets of this process. Default: 8. */
  readonly connections?: number;
  readonly limits?: Partial<ServiceLimits>;
  readonly retry?: Partial<RetryPolicy>;
  readonly clock?: Clock;
  readonly userAgent?: string;
}

export interface FetchRequest {
  readonly url: string;
  /** The validator of the held body, a tag or `Last-Modified`: if it is still current, the result is `not-modified`. */
  readonly etag?: string | null;
  readonly signal?: AbortSignal;
  /** Whether the caller finds out what a `Retry-After` of more than a minute concerns; default: false, everything. */
  readonly isExamined?: boolean;
  /** How often others were refused with `Retry-After` before it; default: 0. After `maxBelievedWaits` it does not wait. */
  readonly waits?: number;
  /** Default: three, in turn with other fetches that are retried, and fewer while nothing succeeds. With 0, others do not notice it. */
  readonly maxRetries?: number;
}

export interface ServiceClient {
  /** Fetches one resource. @throws ServiceError; what the rate limiter rejects with; the signal's reason; nothing else */
  fetch(request: FetchRequest): Promise<FetchResponse>;
  /** Waits for requests that are being sent, and closes the connections; may be called again. */
  close(): Promise<void>;
}

/** @throws ServiceSettingsError when the base URL cannot be used */
export function openServiceClient(options: ServiceClientOptions): ServiceClient {
  const { credential = null, rateLimiter, connections = 8, clock = systemClock } = options;
  const origin = readOriginOrThrow(options.baseUrl);
  const limits = { ...defaultLimits, ...options.limits };
  const { userAgent = "armoire" } = options;
  const transport =
    options.transport ?? openServiceTransport(origin, { credential, limits, connections, userAgent });
  const policy = { ...defaultRetryPolicy, ...options.retry };
  const attempt = createAttempt({
    transport,
    rateLimiter,
    parse: interpretResponse,
    limits,
    maxRetryAfterMillis: policy.maxRetryAfterMillis,
    clock,
    redact: (text) => (credential === null ? text : redact(credential, text)),
  });
  const fetch = createFetch({ attempt, origin, limits, policy, clock });
  return {
    fetch: ({ etag, signal, ...request }) => fetch({ ...request, etag: readHeldValidator(etag), signal }),
    close: () => transport.close(),
  };
}
