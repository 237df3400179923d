/**
 * One fetch as a job: plain data that any process able to reach the service can execute. In: what to fetch. Out: a
 * result for the mirror, or the reason to stop the whole run. It never touches the mirror.
 */
import { toIso } from "../src/platform/clock.ts";
import type { ServiceClient } from "../src/service/client.ts";
import { ServiceError } from "../src/service/errors.ts";
import type { FetchResult } from "../src/service/fetch-result.ts";
import { maxPostponedMillis } from "../src/service/requests/retry-policy.ts";

export interface FetchJob {
  readonly resourceId: number;
  readonly url: string;
  /** The validator of the held body; null for an unconditional request. */
  readonly etag: string | null;
}

export type JobResult =
  | { readonly status: "fetched"; readonly job: FetchJob; readonly result: FetchResult }
  /** Nothing can be fetched for now; the resource stays due. */
  | { readonly status: "stopped"; readonly job: FetchJob; readonly stop: Stop }
  | { readonly status: "cancelled"; readonly job: FetchJob };

/** Why a whole run stops. */
export interface Stop {
  /**
   * `outage`: the circuit breaker is open, or nothing is answered in a way that can be used. `no-root`: the base URL does not
   * lead to a service's root. `condemned`: the service contradicts a snapshot.
   */
  readonly reason: "allowance" | "authentication" | "outage" | "no-root" | "condemned";
  readonly message: string;
  readonly hint: string;
  /** Epoch milliseconds; null if unknown. */
  readonly resumeAt: number | null;
  /** Whether the service did not say why it refused; `message` says what was seen. */
  readonly isUnexplained?: boolean;
}

/** Decides whether the results of jobs stop the run. */
export interface StopRule {
  /** Set once the run stops: jobs are then returned without a request. */
  readonly stop: Stop | null;
  /** To be called with each result as soon as it arrives. @returns the result to report */
  apply(result: JobResult): JobResult;
}

const neverStop: StopRule = { stop: null, apply: (result) => result };

export type ExecuteJob = (job: FetchJob, signal: AbortSignal) => Promise<JobResult>;

/** @param now epoch milliseconds */
export function createJobExecutor(
  client: Pick<ServiceClient, "fetch">,
  now: () => number,
  rule: StopRule = neverStop,
): ExecuteJob {
  return async (job, signal) => {
    if (rule.stop !== null) return { status: "stopped", job, stop: rule.stop };
    try {
      const result = await client.fetch({ url: job.url, etag: job.etag, signal });
      return rule.apply({ status: "fetched", job, result });
    } catch (error) {
      if (error instanceof ServiceError) return rule.apply(toJobResult(job, error, now()));
      if (signal.aborted) return { status: "cancelled", job };
      throw error;
    }
  };
}

function toJobResult(job: FetchJob, error: ServiceError, nowMillis: number): JobResult {
  const { code, message, detail, status, hint, resumeAt } = error;
  const stopped = (reason: Stop["reason"]): JobResult => ({
    status: "stopped",
    job,
    stop: { reason, message, hint, resumeAt, ...(error.isUnexplained && { isUnexplained: true }) },
  });
  if (code === "circuit-open" || code === "no-usable-response") return stopped("outage");
  // A 503 that repeats its Retry-After concerns one resource. If all resources do so, the circuit breaker opens.
  const isOneResource = code === "throttled" && error.status === 503;
  switch (isOneResource ? "retry" : error.next) {
    case "stop-allowance":
      return stopped("allowance");
    case "stop-authentication":
      return stopped("authentication");
    case "retry":
    case "skip":
      if (code === "postponed" && resumeAt !== null)
        return {
          status: "fetched",
          job,
          result: {
            ...({ outcome: "postponed", fetchedAt: toIso(nowMillis), message: detail } as const),
            retryAt: toIso(Math.min(resumeAt, nowMillis + maxPostponedMillis)),
          },
        };
      return {
        status: "fetched",
        job,
        result: {
          ...({ outcome: "failed", fetchedAt: toIso(nowMillis), code, message: detail } as const),
          ...(status !== null && { status }),
        },
      };
  }
}
