import type { RateLimitHeaders } from "./headers.ts";

/**
 * Gives a permit for each attempt, retries and redirects included, so that a ledger can count or refuse it. To refuse, it
 * rejects with a ServiceError, which ends the fetch.
 */
export type RateLimiter = (request: PermitRequest) => Promise<Permit>;

export interface PermitRequest {
  readonly url: string;
  /** Ends the wait for a permit. */
  readonly signal?: AbortSignal | undefined;
}

export interface Permit {
  /** Called exactly once for each attempt, whatever its outcome. */
  release(report: AttemptReport): void;
}

export interface AttemptReport {
  /** Null without a response; whether the service counted the request is then unknown, unless it was never sent. */
  readonly status: number | null;
  readonly allowance: RateLimitHeaders | null;
  /** From `Retry-After`, in epoch milliseconds. */
  readonly retryAt: number | null;
  /** Whether this request was refused before, and sent again after the `Retry-After` of that response. */
  readonly hasWaited?: boolean;
  /** Whether the response says that the allowance is spent. */
  readonly isRefusal: boolean;
  /** Whether the response refuses without a reason, such as a spent allowance or a missing scope. */
  readonly isUnexplained?: boolean;
  /** False without a connection: the service cannot have counted the request. */
  readonly isSent: boolean;
  /** False if the request was cancelled before anything was tried. */
  readonly isTried: boolean;
}

export const noResponse: AttemptReport = {
  status: null,
  allowance: null,
  retryAt: null,
  isRefusal: false,
  isSent: true,
  isTried: true,
};

export const notSent: AttemptReport = { ...noResponse, isSent: false, isTried: false };
