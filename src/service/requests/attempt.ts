import type { Clock } from "../../platform/clock.ts";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";
import type { ServiceLimits } from "../transport/pool.ts";
import type { ResponseHead } from "../transport/send-request.ts";
import type { Transport } from "../transport/transport.ts";
import { isModificationTime, readRateLimitHeaders, readRetryAfter } from "./headers.ts";
import type { ResponseAction, ResponseParser } from "./interpret-response.ts";
import { type AttemptReport, noResponse, notSent, type RateLimiter } from "./rate-limiter.ts";

export interface ServiceRequest {
  /** The address that the caller gave. */
  readonly url: string;
  /** The address to request: the same one, or where a redirect led. */
  readonly target: string;
  /** The validator of the held body: a tag, or a `Last-Modified`. */
  readonly etag: string | null;
  /** `Last-Modified` of the held body; the validator where it has no tag. */
  readonly lastModified?: string | null;
  readonly signal: AbortSignal | undefined;
  /** How often it was sent before and refused with `Retry-After`; default: 0. */
  readonly waits?: number;
  /** Whether the caller finds out what a long `Retry-After` concerns; default: false, it concerns everything. */
  readonly isExamined?: boolean;
  /** Default: by the policy, in turn with others that are retried. */
  readonly maxRetries?: number;
}

/** One request with its permit, up to the meaning of the response. @throws as `Fetch` */
export type Attempt<Fetched> = (request: ServiceRequest) => Promise<ResponseAction<Fetched>>;

export interface AttemptContext<Fetched> {
  readonly transport: Transport;
  readonly rateLimiter: RateLimiter | undefined;
  readonly parse: ResponseParser<Fetched>;
  readonly limits: ServiceLimits;
  /** A longer `Retry-After` is not waited for. */
  readonly maxRetryAfterMillis: number;
  readonly clock: Clock;
  /** Removes the credential from a text. */
  readonly redact: (text: string) => string;
}

export function createAttempt<Fetched>({
  transport,
  rateLimiter,
  parse,
  limits,
  maxRetryAfterMillis,
  clock,
  redact,
}: AttemptContext<Fetched>): Attempt<Fetched> {
  return async ({ url, target, etag, lastModified = null, signal, waits = 0, isExamined = false }) => {
    const permit = rateLimiter && (await rateLimiter({ url: target, signal }));
    let report = notSent;
    try {
      signal?.throwIfAborted();
      const condition = conditionOf(etag, lastModified);
      report = noResponse;
      const { head, wire, failure } = await transport.send({ url: target, condition, signal });
      if (head !== null) report = { ...readReport(head, clock.now()), ...(waits > 0 && { hasWaited: true }) };
      if (failure !== null) throw failure;
      const asked = { url, finalUrl: target, etag, lastModified, waits, isExamined };
      const sent = { ...asked, limits, maxRetryAfterMillis, clock, redact };
      return parse(head, wire, report, sent);
    } catch (error) {
      if (error instanceof ServiceError) {
        report = completeReport(report, error);
        // Only the permit needs the report: the caller cancelled the request itself.
        if (error.code === "cancelled") signal?.throwIfAborted();
      }
      throw error;
    } finally {
      permit?.release(report);
    }
  };
}

function conditionOf(etag: string | null, lastModified: string | null): string[] {
  if (etag !== null) return [isModificationTime(etag) ? "if-modified-since" : "if-none-match", etag];
  return lastModified === null ? [] : ["if-modified-since", lastModified];
}

export function readReport({ status, headers }: ResponseHead, now: number): AttemptReport {
  return {
    status,
    allowance: readRateLimitHeaders(headers, now),
    retryAt: readRetryAfter(headers["retry-after"], now),
    isRefusal: false,
    isSent: true,
    isTried: true,
  };
}

const failedBeforeTrying: readonly ServiceErrorCode[] = ["paused", "cancelled"];
const failedBeforeSending: readonly ServiceErrorCode[] = [
  ...failedBeforeTrying,
  ...(["unreachable", "host-not-found", "tls-failed", "private-address"] as const),
];

function completeReport(report: AttemptReport, { code, isUnexplained }: ServiceError): AttemptReport {
  // Without a remaining count, an overloaded service and a spent allowance look the same.
  const isBusy = code === "busy" && !isUnexplained && typeof report.allowance?.remaining !== "number";
  return {
    ...report,
    isRefusal: code === "allowance-spent" || isBusy,
    isUnexplained,
    isSent: report.status !== null || !failedBeforeSending.includes(code),
    isTried: report.status !== null || !failedBeforeTrying.includes(code),
  };
}
