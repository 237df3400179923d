import type { Clock } from "../../platform/clock.ts";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";
import { readAllowance, readRetryAfter } from "../responses/headers.ts";
import type { Judge, Verdict } from "../responses/interpret-response.ts";
import { type AttemptReport, noAnswer, type Reserve, untried } from "../responses/rate-limiter.ts";
import type { ServiceLimits } from "../transport/pool.ts";
import type { Head } from "../transport/send-request.ts";
import type { Sender } from "../transport/transport.ts";

export interface Ask {
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
export type Attempt<Fetched> = (ask: Ask) => Promise<Verdict<Fetched>>;

export interface AttemptParts<Fetched> {
  readonly sender: Sender;
  readonly reserve: Reserve | undefined;
  readonly judge: Judge<Fetched>;
  readonly limits: ServiceLimits;
  readonly clock: Clock;
  /** Takes the credential out of a text. */
  readonly redact: (text: string) => string;
}

export function createAttempt<Fetched>({
  sender,
  reserve,
  judge,
  limits,
  clock,
  redact,
}: AttemptParts<Fetched>): Attempt<Fetched> {
  return async ({ url, target, etag, lastModified = null, signal }) => {
    const reservation = reserve && (await reserve({ url: target, signal }));
    let report = untried;
    try {
      signal?.throwIfAborted();
      const condition = conditionOf(etag, lastModified);
      report = noAnswer;
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
      reservation?.settle(report);
    }
  };
}

function conditionOf(etag: string | null, lastModified: string | null): string[] {
  if (etag !== null) return ["if-none-match", etag];
  return lastModified === null ? [] : ["if-modified-since", lastModified];
}

function readReport({ status, headers }: Head, now: number): AttemptReport {
  return {
    status,
    allowance: readAllowance(headers, now),
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
