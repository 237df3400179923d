import type { RateLimitHeaders } from "./headers.ts";

/**
 * Asked before every attempt, retries and redirects included, so that a ledger can count or refuse it. To refuse, it
 * rejects with a ServiceError, which ends the fetch as it is.
 */
export type RateLimiter = (attempt: PermitRequest) => Promise<Permit>;

export interface PermitRequest {
  readonly url: string;
  /** Ends the waiting for a reservation. */
  readonly signal?: AbortSignal | undefined;
}

export interface Permit {
  /** Called exactly once for each attempt, whatever became of it. */
  release(report: AttemptReport): void;
}

export interface AttemptReport {
  /** Null when no answer came; whether the service counted the request is then unknown, unless it was never sent. */
  readonly status: number | null;
  readonly allowance: RateLimitHeaders | null;
  /** Epoch milliseconds before which the service asked not to be called again (`Retry-After`). */
  readonly retryAt: number | null;
  /** Whether the answer says that the allowance is spent. */
  readonly isRefusal: boolean;
  /** False when no connection came about, so that the service cannot have counted the request. */
  readonly isSent: boolean;
  /** False when nobody even tried to send it: it was taken back before. */
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
