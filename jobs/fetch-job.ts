/**
 * One fetch as a job: plain data that any process can carry out that can reach the service. In: what to ask. Out: a
 * result for the mirror, or the reason why the whole run should stop. It never touches the mirror.
 */
import type { FetchResult } from "../src/mirror/fetch-result.ts";
import { toIso } from "../src/platform/clock.ts";
import type { ServiceClient } from "../src/service/client.ts";
import { ServiceError } from "../src/service/errors.ts";

export interface FetchJob {
  readonly resourceId: number;
  readonly url: string;
  readonly etag: string | null;
}

export type JobResult =
  | { readonly end: "fetched"; readonly job: FetchJob; readonly result: FetchResult }
  /** Nothing can be fetched for now; the resource is as due as before. */
  | { readonly end: "stopped"; readonly job: FetchJob; readonly stop: Stop }
  /** Given up because the caller asked to. */
  | { readonly end: "cancelled"; readonly job: FetchJob };

export interface Stop {
  /**
   * `outage`: so many fetches failed in a row that the door asks no more. `no-root`: what answers at the base URL is no
   * front page of a service.
   */
  readonly reason: "allowance" | "authentication" | "outage" | "no-root";
  readonly message: string;
  readonly hint: string;
  /** Epoch milliseconds; null when the service did not say. */
  readonly resumeAt: number | null;
}

export type ExecuteJob = (job: FetchJob, signal: AbortSignal) => Promise<JobResult>;

/** @param now epoch milliseconds */
export function createJobExecutor(service: ServiceClient, now: () => number): ExecuteJob {
  return async (job, signal) => {
    try {
      const fetched = await service.fetch({ url: job.url, etag: job.etag, signal });
      const about = { resourceId: job.resourceId, fetchedAt: toIso(now()) };
      switch (fetched.outcome) {
        case "body": {
          const { status, etag, finalUrl, body } = fetched;
          const redirected = finalUrl === job.url ? {} : { finalUrl };
          const result = { ...about, ...redirected, outcome: "body", status, etag, body } as const;
          return { end: "fetched", job, result };
        }
        case "not-modified":
          return { end: "fetched", job, result: { ...about, outcome: "not-modified" } };
        case "gone":
          return { end: "fetched", job, result: { ...about, outcome: "gone" } };
      }
    } catch (error) {
      if (error instanceof ServiceError) return fromServiceError(job, error, now());
      if (signal.aborted) return { end: "cancelled", job };
      throw error;
    }
  };
}

function fromServiceError(job: FetchJob, error: ServiceError, nowMillis: number): JobResult {
  const { code, message, hint, resumeAt } = error;
  // A service that asks one resource to wait again and again has trouble with that one; where all have, the door closes.
  const isOneResource = code === "throttled" && error.status === 503;
  if (code === "circuit-open")
    return { end: "stopped", job, stop: { reason: "outage", message, hint, resumeAt } };
  switch (isOneResource ? "retry" : error.next) {
    case "stop-allowance":
      return { end: "stopped", job, stop: { reason: "allowance", message, hint, resumeAt } };
    case "stop-authentication":
      return { end: "stopped", job, stop: { reason: "authentication", message, hint, resumeAt } };
    case "retry":
    case "skip": {
      const fetchedAt = toIso(nowMillis);
      return {
        end: "fetched",
        job,
        result: { resourceId: job.resourceId, fetchedAt, outcome: "failed", code, message: error.detail },
      };
    }
  }
}
