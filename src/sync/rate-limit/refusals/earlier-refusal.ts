/** Why the service refused the last run that sent something, for runs and plans of the same window. */
import type { MirrorReader } from "../../../mirror/reader.ts";
import { listRuns } from "../../../mirror/runs/run-log.ts";
import { dayMillis } from "../../../platform/clock.ts";
import type { AllowanceState } from "../known-allowance.ts";

/**
 * @param beforeRun only an earlier run counts; default: any
 * @returns null if no run of this window was refused, or the refusal said that the allowance is spent
 */
export function readEarlierRefusal(
  mirror: MirrorReader,
  { resetAt, windowSeconds }: Pick<AllowanceState, "resetAt" | "windowSeconds">,
  beforeRun?: number,
): string | null {
  const [before] = listRuns(mirror, 1, true, beforeRun);
  if (before?.stopped !== "allowance" || before.endedAt === null || resetAt === null) return null;
  const windowMillis = windowSeconds === null ? dayMillis : windowSeconds * 1000;
  const isOfThisWindow = Date.parse(before.endedAt) >= resetAt - windowMillis;
  return isOfThisWindow ? before.error : null;
}
