import type { Clock } from "../../platform/clock.ts";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";
import { readRateLimitHeaders, readRetryAfter } from "../responses/headers.ts";
import type { ResponseAction, ResponseParser } from "../responses/interpret-response.ts";
import { type AttemptReport, noResponse, notSent, type RateLimiter } from "../responses/rate-limiter.ts";
import type { ServiceLimits } from "../transport/pool.ts";
import type { ResponseHead } from "../transport/send-request.ts";
import type { Transport } from "../transport/transport.ts";

export interface ServiceRequest {
  /** The address that the caller gave. */
  readonly url: string;
  /** The address to ask: the same one, or where a redirect led. */
  readonly target: string;
  /** The validator to send. */
  readonly etag: string | null;
  /** As the answer that is held said when it changed: the validator where it had no tag. */
  readonly lastModified?: string | null;
  readonly signal: AbortSignal | undefined;
}

const beforeTrying: readonly ServiceErrorCode[] = ["held-back", "withdrawn"];
const beforeSending: readonly ServiceErrorCode[] = [
  ...beforeTrying,
  ...(["unreachable", "host-not-found", "tls-failed", "private-address"] as const),
];

/** One request and its answer, reserved before and settled after. */
export type Attempt<Fetched> = (ask: ServiceRequest) => Promise<ResponseAction<Fetched>>;

export interface AttemptContext<Fetched> {
  readonly transport: Transport;
  readonly rateLimiter: RateLimiter | undefined;
  readonly parse: ResponseParser<Fetched>;
  readonly limits: ServiceLimits;
  readonly clock: Clock;
  /** Takes the credential out of a text. */
  readonly redact: (text: string) => string;
}

export function createAttempt<Fetched>({
  transport: sender,
  rateLimiter: reserve,
  parse: judge,
  limits,
  clock,
  redact,
}: AttemptContext<Fetched>): Attempt<Fetched> {
  return async ({ url, target, etag, lastModified = null, signal }) => {
    const reservation = reserve && (await reserve({ url: target, signal }));
    let report = notSent;
    try {
      signal?.throwIfAborted();
      const condition = conditionOf(etag, lastModified);
      report = noResponse;
      const { head, wire, failure } = await sender.send({ url: target, condition, signal });
      if (head !== null) report = readReport(head, clock.now());
      if (failure !== null) throw failure;
      const asked = { url, finalUrl: target, etag, lastModified, limits, redact };
      return judge(head, wire, report, asked);
    } catch (error) {
      if (error instanceof ServiceError) {
        report = withMeaning(report, error.code);
        // Told to the ledger alone: whoever withdrew it knows.
        if (error.code === "withdrawn") signal?.throwIfAborted();
      }
      throw error;
    } finally {
      reservation?.release(report);
    }
  };
}

function conditionOf(etag: string | null, lastModified: string | null): string[] {
  if (etag !== null) return ["if-none-match", etag];
  return lastModified === null ? [] : ["if-modified-since", lastModified];
}

function readReport({ status, headers }: ResponseHead, now: number): AttemptReport {
  return {
    status,
    allowance: readRateLimitHeaders(headers, now),
    retryAt: readRetryAfter(headers["retry-after"], now),
    isRefusal: false,
    isSent: true,
    isTried: true,
  };
}

/** A service that is only busy, and says nothing of how much is left, is not told from one whose allowance is spent. */
function withMeaning(report: AttemptReport, code: ServiceErrorCode): AttemptReport {
  const isBusy = code === "busy" && typeof report.allowance?.remaining !== "number";
  return {
    ...report,
    isRefusal: code === "allowance-spent" || isBusy,
    isSent: report.status !== null || !beforeSending.includes(code),
    isTried: report.status !== null || !beforeTrying.includes(code),
  };
}
