/**
 * The door: the one place where the service is talked to. In: an address that the service gave, and the validator of what
 * is held. Out: plain data, or a ServiceError that says what to do next. It attaches the credential as it sends, only to
 * the base URL's origin; it knows nothing of kinds, links, mirrors or runs, and it keeps nothing between two fetches but
 * connections and whether the service is down.
 */

import { type Clock, systemClock } from "../platform/clock.ts";
import { readOriginOrThrow } from "./base-url.ts";
import { type Credential, redact } from "./credentials/credential.ts";
import { ServiceError } from "./errors.ts";
import { createAttempt } from "./requests/attempt.ts";
import { Circuit, fetchWithRetry } from "./requests/fetch-with-retry.ts";
import { defaultRetryPolicy, type RetryPolicy } from "./requests/retry-policy.ts";
import type { FetchResponse } from "./responses/fetch-response.ts";
import { readEntityTag } from "./responses/headers.ts";
import { interpretResponse } from "./responses/interpret-response.ts";
import type { RateLimiter } from "./responses/rate-limiter.ts";
import { resolveLink } from "./same-origin.ts";
import { defaultLimits, type ServiceLimits } from "./transport/pool.ts";
import { openTransport, serviceHeaders, type Transport } from "./transport/transport.ts";

export interface ServiceClientOptions {
  /** `http:` or `https:`; its origin is the only one that is ever contacted. */
  readonly baseUrl: string;
  readonly credential?: Credential | null;
  readonly rateLimiter?: RateLimiter;
  /** What the requests are sent with, closed with the door; this process itself unless told. */
  readonly transport?: Transport;
  /** Sockets of this process at most; 8 unless told. */
  readonly connections?: number;
  readonly limits?: Partial<ServiceLimits>;
  readonly retry?: Partial<RetryPolicy>;
  readonly clock?: Clock;
  readonly userAgent?: string;
}

export interface FetchRequest {
  readonly url: string;
  /** The tag of what is held; with it, an unchanged resource comes back as `not-modified`. */
  readonly etag?: string | null;
  readonly signal?: AbortSignal;
}

export interface ServiceClient {
  /**
   * One resource. Rejects with a ServiceError, with what `reserve` rejected with, or with the reason of the caller's own
   * signal; with nothing else.
   */
  fetch(request: FetchRequest): Promise<FetchResponse>;
  /** Lets what is being sent finish, and closes the connections; may be called again. */
  close(): Promise<void>;
}

/** @throws ServiceSettingsError when the base URL can't be used */
export function openServiceClient(options: ServiceClientOptions): ServiceClient {
  const {
    credential = null,
    rateLimiter,
    connections = 8,
    clock = systemClock,
    userAgent = "armoire",
  } = options;
  const origin = readOriginOrThrow(options.baseUrl);
  const limits = { ...defaultLimits, ...options.limits };
  const policy = { ...defaultRetryPolicy, ...options.retry };
  const circuit = new Circuit(clock);
  const transport =
    options.transport ??
    openTransport(origin, serviceHeaders(credential, userAgent), limits, { connections });
  const redactCredential = (text: string) => (credential === null ? text : redact(credential, text));
  const parts = { transport, rateLimiter, parse: interpretResponse, limits, clock, redact: redactCredential };
  const followParts = { attempt: createAttempt(parts), origin, limits, policy, clock };

  return {
    async fetch({ url, etag, signal }) {
      signal?.throwIfAborted();
      const resolved = resolveLink(url, origin, origin);
      if ("skipped" in resolved)
        throw new ServiceError("link-refused", `not an address to follow (${resolved.skipped})`, { url });
      return fetchWithRetry(
        { url, target: resolved.url, etag: readEntityTag(etag), signal },
        followParts,
        circuit,
      );
    },
    close: () => transport.close(),
  };
}
