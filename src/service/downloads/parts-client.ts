/**
 * The HTTP client for parts of one public file. In: an address of its origin, and where the part begins. Out: the part, or a
 * ServiceError. It has no credential, and contacts only the origin that it was opened for.
 */
import { type Clock, systemClock } from "../../platform/clock.ts";
import { type IpClass, ipClassOf, literalAddress } from "../../platform/network/ip-class.ts";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";
import { createAttempt } from "../requests/attempt.ts";
import { createFetch } from "../requests/fetch-with-retry.ts";
import { type ResponseParser, redirects } from "../requests/interpret-response.ts";
import { decideRefusal, defaultRetryPolicy, type RetryPolicy } from "../requests/retry-policy.ts";
import { readEncoding } from "../transport/content-encoding.ts";
import { defaultLimits, type PoolOptions, type ServiceLimits } from "../transport/pool.ts";
import type { ResponseHead } from "../transport/send-request.ts";
import { openTransport } from "../transport/transport.ts";

const mebibyte = 2 ** 20;
/** Of a server that sends whole files only: they are held in memory. */
const maxWholeBytes = 64 * mebibyte;
export const defaultPartBytes = 4 * mebibyte;

export interface PartsClientOptions {
  /** The only origin that is contacted. */
  readonly origin: string;
  /** The classes of addresses that may be connected to. */
  readonly allowed: ReadonlySet<IpClass>;
  /** Default: 4 MiB. */
  readonly partBytes?: number | undefined;
  readonly limits?: Partial<ServiceLimits> | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
  readonly clock?: Clock | undefined;
  /** Resolves host names. Default: the system's resolver. */
  readonly lookup?: PoolOptions["lookup"] | undefined;
}

/** The same for all parts of one version of a file; null if the server states none. */
export type Version = string | null;

export type FetchedPart =
  | {
      readonly outcome: "part";
      /** Where it begins. */
      readonly from: number;
      readonly bytes: Uint8Array;
      /** Of the whole file. */
      readonly total: number;
      readonly version: Version;
    }
  /** Nothing is at this position: the file is shorter. */
  | { readonly outcome: "beyond-end" }
  /** At another origin. */
  | { readonly outcome: "elsewhere"; readonly url: string };

export interface PartsClient {
  /** @throws ServiceError; the signal's reason */
  fetch(request: {
    readonly url: string;
    readonly from: number;
    readonly signal: AbortSignal | undefined;
  }): Promise<FetchedPart>;
  close(): Promise<void>;
}

/** It fetches one part at a time. */
export function openPartsClient(options: PartsClientOptions): PartsClient {
  const { origin, allowed, partBytes = defaultPartBytes, clock = systemClock } = options;
  const lookup = options.lookup === undefined ? {} : { lookup: options.lookup };
  const limits = {
    ...defaultLimits,
    ...options.limits,
    wireBytes: maxWholeBytes,
    decodedBytes: maxWholeBytes,
  };
  const policy = { ...defaultRetryPolicy, ...options.retry };
  const headers = ["accept", "*/*", "accept-encoding", "identity", "user-agent", "armoire"];
  const transport = openTransport(origin, headers, limits, { connections: 1, allowed, ...lookup });
  let from = 0;
  const attempt = createAttempt({
    transport: {
      send: (request) => {
        const range = ["range", `bytes=${from}-${from + partBytes - 1}`];
        return transport.send({ ...request, condition: range });
      },
      close: () => transport.close(),
    },
    rateLimiter: undefined,
    parse: interpretPart(() => from),
    limits,
    maxRetryAfterMillis: policy.maxRetryAfterMillis,
    clock,
    redact: (text) => text,
  });
  const fetch = createFetch({ attempt, origin, limits, policy, clock });
  const literal = literalAddress(new URL(origin).hostname);
  const isRefused = literal !== null && !allowed.has(ipClassOf(literal));
  return {
    async fetch({ url, from: start, signal }) {
      if (isRefused) throw new ServiceError("private-address", "its host is a private address", { url });
      from = start;
      return await fetch({ url, etag: null, signal });
    },
    close: () => transport.close(),
  };
}

const interpretPart =
  (from: () => number): ResponseParser<FetchedPart> =>
  (head, wire, { allowance, retryAt }, request) => {
    const { status, headers } = head;
    const context = { url: request.finalUrl, status };
    const failure = (code: ServiceErrorCode, detail = `answered ${status}`, resumeAt: number | null = null) =>
      new ServiceError(code, detail, { ...context, resumeAt });
    if (status === 200 || status === 206) {
      // Only then do the bytes have positions in the file.
      if (readEncoding(headers["content-encoding"]) !== "identity")
        throw failure("encoding-refused", "encoded, which was not offered");
      const place = status === 200 ? { from: 0, total: wire.byteLength } : placeOf(head, wire, from());
      if (place === null)
        throw failure("malformed-response", "sent another part than the one that was requested");
      return { do: "return", fetched: { outcome: "part", ...place, bytes: wire, version: versionOf(head) } };
    }
    if (status === 416) return { do: "return", fetched: { outcome: "beyond-end" } };
    if (redirects.includes(status) && typeof headers.location === "string") {
      const target = URL.parse(headers.location, request.finalUrl);
      if (target !== null && target.origin !== new URL(request.finalUrl).origin)
        return { do: "return", fetched: { outcome: "elsewhere", url: target.href } };
      return { do: "redirect", location: headers.location };
    }
    const decision = decideRefusal({ status, message: null, allowance, retryAt });
    switch (decision?.do) {
      case "stop":
        throw failure("throttled", `answered ${status}`, decision.resumeAt);
      case "wait":
        return { do: "wait", retryAt: decision.retryAt, error: failure("throttled") };
      case "retry":
        throw failure("busy");
    }
    if (status >= 500 || status === 408) throw failure("server-error");
    throw failure("unexpected-status");
  };

/** Null unless `Content-Range` and the body are what was requested. */
function placeOf({ headers }: ResponseHead, wire: Uint8Array, from: number) {
  const [, first, last, total] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(headers["content-range"] ?? "") ?? [];
  const isAsked =
    Number(first) === from &&
    Number(last) - Number(first) + 1 === wire.byteLength &&
    Number(last) < Number(total);
  return isAsked ? { from, total: Number(total) } : null;
}

function versionOf({ headers }: ResponseHead): Version {
  const { etag, "last-modified": modified } = headers;
  return etag ?? modified ?? null;
}
