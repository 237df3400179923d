/** What becomes of a sync for the person and the script that asked for it. */
import type { Account } from "../accounts/account.ts";
import type { SyncReport } from "../sync/report.ts";
import { SyncError } from "../sync/sync-error.ts";
import { type ExitCode, exitCodes } from "./terminal/exit-codes.ts";

/** @param interruptedWith the exit code that an interruption asked for */
export function exitCodeOfSync(
  report: SyncReport,
  interruptedWith: ExitCode | null,
  requiresComplete = false,
): ExitCode {
  if (report.stopped === "interrupted") return interruptedWith ?? exitCodes.interrupted;
  if (report.resources.waiting > 0) return exitCodes.approval;
  if (report.resources.failed > 0 || report.resources.partial > 0) return exitCodes.someFailed;
  return requiresComplete && !report.complete ? exitCodes.incomplete : exitCodes.done;
}

/** What the library says of credentials in general is here about one account. */
export function explainRefusal(error: unknown, { name }: Account): unknown {
  if (!(error instanceof SyncError) || (error.code !== "not-authenticated" && error.code !== "other-user"))
    return error;
  const hint = `Everything mirrored stays. \`armoire account add ${name}\` takes a new token of the same user.`;
  return new SyncError(error.code, error.message, hint);
}
