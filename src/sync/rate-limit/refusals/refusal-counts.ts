/**
 * What the ledger knows of refusals without a reason, or with a `Retry-After` that may be wrong. In: the state of a window and
 * a response. Out: the counts, and what to do next. Pure.
 */
import type { AttemptReport } from "../../../service/requests/rate-limiter.ts";
import type { RefusalCounts, WindowState } from "../window.ts";

/** In one window, over all runs. */
export const maxRequests = 3;

/** A counted response to a later request shows that the allowance was not spent. */
export function countUnexplained(
  { refusalCounts, seq }: Pick<WindowState, "refusalCounts" | "seq">,
  lease: { readonly seq: number },
  report: AttemptReport,
  spending: { readonly min: number },
): RefusalCounts {
  if (report.isUnexplained === true)
    return { ...refusalCounts, refusals: refusalCounts.refusals + 1, seq: seq + 1 };
  const isSettled = refusalCounts.refusals > 0 && spending.min === 1 && lease.seq > refusalCounts.seq;
  return isSettled ? { ...refusalCounts, refusals: 0 } : refusalCounts;
}

/** A later request that succeeds shows that `Retry-After` was right: one that had waited, or is surely counted. */
export function countThrottles(
  counts: RefusalCounts,
  seq: number,
  lease: { readonly seq: number },
  report: AttemptReport,
  spending: { readonly min: number },
): RefusalCounts {
  const { throttles, throttledSeq } = counts;
  if (throttles > 0 && lease.seq <= throttledSeq) return counts;
  if (isThrottle(report)) return { ...counts, throttles: throttles + 1, throttledSeq: seq + 1 };
  const isSuccess = report.status === 200 || report.status === 304;
  const isRight = spending.min === 1 || (report.hasWaited === true && isSuccess);
  return isRight && throttles > 0 ? { ...counts, throttles: 0 } : counts;
}

/** A 503 concerns one resource only; of an unexplained refusal, the cause is found out. */
function isThrottle({ status, retryAt, isRefusal, isUnexplained }: AttemptReport): boolean {
  return (status === 403 || status === 429) && retryAt !== null && !isRefusal && isUnexplained !== true;
}

/** Whether the response refuses with a `Retry-After` that is no longer relied on in this window. */
export function isWrongRetryAfter({ refusalCounts }: WindowState, report: AttemptReport): boolean {
  return isThrottle(report) && refusalCounts.throttles >= maxRequests;
}

/** Whether one request at a time finds out if a refusal with `Retry-After` is over. */
export function isThrottled({ refusalCounts, remaining }: WindowState): boolean {
  // A burst limit refuses although much remains.
  return refusalCounts.throttles > (remaining === null ? 0 : 1);
}

export type NextStep =
  /** Whether the allowance is spent is known without a request. */
  | "spent"
  | "forbidden"
  /** Request a held resource conditionally: free with most services. */
  | "probe"
  /** As `probe`, and if the response may have been free, also unconditionally. */
  | "probe-twice";

/** @param state after an unexplained refusal */
export function decideNextStep({
  refusalCounts,
  counted,
  limit,
  confirmedLimit,
  isReported,
}: WindowState): NextStep {
  const { refusals, probes } = refusalCounts;
  if (refusals === 0) return "forbidden";
  // The window has granted as much as the last one did before it refused.
  if (!isReported && limit !== null && counted.max >= (confirmedLimit ?? limit)) return "spent";
  if (refusals >= maxRequests) return "spent";
  return refusals + probes < maxRequests ? "probe-twice" : "probe";
}
