import type { Dispatcher } from "undici";
import { readAllowance } from "./allowance-reading.ts";
import type { Clock } from "./clock.ts";
import type { Deadlines } from "./deadlines.ts";
import { exchange, type Head } from "./exchange.ts";
import { judgeOrThrow, type Verdict } from "./judge.ts";
import type { ServiceLimits } from "./limits.ts";
import { type AttemptReport, noAnswer, type Reserve } from "./reserve.ts";
import { readRetryAfter } from "./retry-after.ts";
import { ServiceError, type ServiceErrorCode } from "./service-error.ts";

export interface Ask {
  /** The address that the caller gave. */
  readonly url: string;
  /** The address to ask: the same one, or where a redirect led. */
  readonly target: string;
  /** The validator to send. */
  readonly etag: string | null;
  readonly signal: AbortSignal | undefined;
}

const beforeSending: readonly ServiceErrorCode[] = ["unreachable", "host-not-found", "tls-failed"];

/** One request and its answer, reserved before and settled after. */
export type Attempt = (ask: Ask) => Promise<Verdict>;

export interface AttemptParts {
  readonly dispatcher: Dispatcher;
  /** Sent with every request, the credential among them; names and values in turn. */
  readonly headers: string[];
  readonly reserve: Reserve | undefined;
  readonly limits: ServiceLimits;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
  /** Takes the credential out of a text. */
  readonly redact: (text: string) => string;
}

export function createAttempt({
  dispatcher,
  headers,
  reserve,
  limits,
  deadlines,
  clock,
  redact,
}: AttemptParts): Attempt {
  return async ({ url, target, etag, signal }) => {
    const reservation = reserve && (await reserve({ url: target, signal }));
    let report = noAnswer;
    try {
      signal?.throwIfAborted();
      const sent = etag === null ? headers : [...headers, "if-none-match", etag];
      const { head, wire, failure } = await exchange(
        dispatcher,
        { url: target, headers: sent, signal },
        limits,
        deadlines,
      );
      if (head !== null) report = readReport(head, clock.now());
      if (failure !== null) throw failure;
      return judgeOrThrow(head, wire, report, { url, finalUrl: target, etag, limits, redact });
    } catch (error) {
      if (error instanceof ServiceError) report = withMeaning(report, error.code);
      throw error;
    } finally {
      reservation?.settle(report);
    }
  };
}

function readReport({ status, headers }: Head, now: number): AttemptReport {
  return {
    status,
    allowance: readAllowance(headers, now),
    retryAt: readRetryAfter(headers["retry-after"], now),
    isRefusal: false,
    isSent: true,
  };
}

/** A service that is only busy, and says nothing of how much is left, is not told from one whose allowance is spent. */
function withMeaning(report: AttemptReport, code: ServiceErrorCode): AttemptReport {
  const isBusy = code === "busy" && typeof report.allowance?.remaining !== "number";
  return {
    ...report,
    isRefusal: code === "allowance-spent" || isBusy,
    isSent: report.status !== null || !beforeSending.includes(code),
  };
}
