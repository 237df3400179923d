/**
 * What the ledger knows of refusals without a reason. In: the state of a window and a response. Out: the counts, and what to
 * do next. Pure.
 */
import type { AttemptReport } from "../../../service/requests/rate-limiter.ts";
import type { RefusalCounts, WindowState } from "../window.ts";

/** In one window, over all runs. */
const maxRequests = 3;

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
