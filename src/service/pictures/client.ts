/**
 * The HTTP client for pictures, which may be on any server. In: an address that the service gave, and the validators of
 * the held picture. Out: a picture, or a ServiceError. It has no credential, contacts only the origin it was opened for,
 * and no private network other than the service's own.
 */
import { pictureTypes } from "../../../schema/entities/picture-types.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { type IpClass, ipClassOf, literalAddress } from "../../platform/network/ip-class.ts";
import { ServiceError } from "../errors.ts";
import { createAttempt } from "../requests/attempt.ts";
import { createFetch } from "../requests/fetch-with-retry.ts";
import type { RateLimiter } from "../requests/rate-limiter.ts";
import { defaultRetryPolicy, type RetryPolicy } from "../requests/retry-policy.ts";
import { defaultLimits, type PoolOptions, type ServiceLimits } from "../transport/pool.ts";
import { openTransport } from "../transport/transport.ts";
import { type FetchedPicture, interpretPicture } from "./interpret-picture.ts";

export type { FetchedPicture };

export interface PictureClientOptions {
  /** The only origin that is contacted. */
  readonly origin: string;
  /** Pictures of a service over https: are not fetched over http:. */
  readonly serviceOrigin: string;
  /** The class of the service's own address; others than this one and public ones are refused. */
  readonly serviceClass: IpClass;
  /** Of one picture. */
  readonly maxBytes: number;
  /** For the service's own origin, which counts requests for pictures too. */
  readonly rateLimiter?: RateLimiter;
  /** Default: 4. */
  readonly connections?: number;
  readonly limits?: Partial<ServiceLimits>;
  readonly retry?: Partial<RetryPolicy>;
  readonly clock?: Clock;
  /** Resolves host names. Default: the system's resolver. */
  readonly lookup?: PoolOptions["lookup"];
}

export interface PictureRequest {
  readonly url: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly signal?: AbortSignal;
}

export interface PictureClient {
  /** Fetches one picture. @throws ServiceError; what the rate limiter rejects with; the signal's reason */
  fetch(request: PictureRequest): Promise<FetchedPicture>;
  close(): Promise<void>;
}

export function openPictureClient(options: PictureClientOptions): PictureClient {
  const { origin, serviceOrigin, serviceClass, maxBytes, rateLimiter, connections = 4 } = options;
  const lookup = options.lookup === undefined ? {} : { lookup: options.lookup };
  const clock = options.clock ?? systemClock;
  const limits = { ...defaultLimits, ...options.limits, wireBytes: maxBytes, decodedBytes: maxBytes };
  const policy = { ...defaultRetryPolicy, ...options.retry };
  const allowed = new Set<IpClass>(["public", serviceClass]);
  const literal = literalAddress(new URL(origin).hostname);
  const isPrivate = literal !== null && !allowed.has(ipClassOf(literal));
  const isDowngrade = serviceOrigin.startsWith("https:") && origin.startsWith("http:");
  const headers = ["accept", pictureTypes.join(", "), "accept-encoding", "identity", "user-agent", "armoire"];
  const transport = openTransport(origin, headers, limits, { connections, allowed, ...lookup });
  const attempt = createAttempt({
    transport,
    rateLimiter,
    parse: interpretPicture,
    limits,
    maxRetryAfterMillis: policy.maxRetryAfterMillis,
    clock,
    redact: (text) => text,
  });
  const fetch = createFetch({ attempt, origin, limits, policy, clock });
  return {
    async fetch({ url, etag, lastModified, signal }) {
      if (isPrivate) throw new ServiceError("private-address", "its host is a private address", { url });
      if (isDowngrade)
        throw new ServiceError("link-refused", "not requested over http: (scheme-downgrade)", { url });
      return await fetch({ url, etag, lastModified, signal });
    },
    close: () => transport.close(),
  };
}
