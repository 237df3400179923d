/**
 * The second door, for pictures, which may lie anywhere. In: an address that the service gave, and the validators of what
 * is held. Out: a picture, or a ServiceError. It has no credential and takes none, it stays at the origin that it was opened
 * for, and it goes into no private network but the one that the service itself is in.
 */

import { type Clock, systemClock } from "../../platform/clock.ts";
import { type IpClass, ipClassOf, literalAddress } from "../../platform/ip-class.ts";
import { ServiceError } from "../errors.ts";
import { createAttempt } from "../requests/attempt.ts";
import { Circuit, fetchWithRetry } from "../requests/fetch-with-retry.ts";
import { defaultRetryPolicy, type RetryPolicy } from "../requests/retry-policy.ts";
import type { RateLimiter } from "../responses/rate-limiter.ts";
import { resolveLink } from "../same-origin.ts";
import { defaultLimits, guardedLookup, type ServiceLimits } from "../transport/pool.ts";
import { openTransport } from "../transport/transport.ts";
import { type FetchedPicture, interpretPicture, pictureTypes } from "./interpret-picture.ts";

export type { FetchedPicture };

export interface PictureClientOptions {
  /** The only one that is asked. */
  readonly origin: string;
  /** Where the service is: what one over https: refers to is not asked for over http:. */
  readonly serviceOrigin: string;
  /** What the service's own address is: beside public ones, only such addresses are asked. */
  readonly serviceClass: IpClass;
  /** Of one picture. */
  readonly maxBytes: number;
  /** Where the origin is the service's own, and meters what it is asked. */
  readonly rateLimiter?: RateLimiter;
  readonly connections?: number;
  readonly limits?: Partial<ServiceLimits>;
  readonly retry?: Partial<RetryPolicy>;
  readonly clock?: Clock;
}

export interface PictureRequest {
  readonly url: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly signal?: AbortSignal;
}

export interface PictureClient {
  /** One picture. Rejects with a ServiceError, with what `reserve` rejected with, or with the signal's reason. */
  fetch(request: PictureRequest): Promise<FetchedPicture>;
  close(): Promise<void>;
}

export function openPictureClient(options: PictureClientOptions): PictureClient {
  const {
    origin,
    serviceOrigin,
    serviceClass,
    maxBytes,
    rateLimiter,
    connections = 4,
    clock = systemClock,
  } = options;
  const limits = { ...defaultLimits, ...options.limits, wireBytes: maxBytes, decodedBytes: maxBytes };
  const policy = { ...defaultRetryPolicy, ...options.retry };
  const allowed = new Set<IpClass>(["public", serviceClass]);
  const literal = literalAddress(new URL(origin).hostname);
  const isPrivate = literal !== null && !allowed.has(ipClassOf(literal));
  const isDowngrade = serviceOrigin.startsWith("https:") && origin.startsWith("http:");
  const circuit = new Circuit(clock);
  const headers = ["accept", pictureTypes.join(", "), "accept-encoding", "identity", "user-agent", "armoire"];
  const transport = openTransport(origin, headers, limits, { connections, lookup: guardedLookup(allowed) });
  const attempt = createAttempt({
    transport,
    rateLimiter,
    parse: interpretPicture,
    limits,
    clock,
    redact: (text) => text,
  });

  const parts = { attempt, origin, limits, policy, clock };

  return {
    async fetch({ url, etag, lastModified, signal }) {
      signal?.throwIfAborted();
      const resolved = resolveLink(url, origin, origin);
      if ("skipped" in resolved)
        throw new ServiceError("link-refused", `not an address to follow (${resolved.skipped})`, { url });
      if (isPrivate) throw new ServiceError("private-address", "its host is a private address", { url });
      if (isDowngrade)
        throw new ServiceError("link-refused", "not asked, because others could read it (scheme-downgrade)", {
          url,
        });
      return fetchWithRetry({ url, target: resolved.url, etag, lastModified, signal }, parts, circuit);
    },
    close: () => transport.close(),
  };
}
