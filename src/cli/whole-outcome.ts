/** The exit code of a sync of several parts: what matters most of what they say. */
import type { WholeSync } from "../sync/sync-whole.ts";
import { exitCodeOf } from "./errors.ts";
import { exitCodeOfSync } from "./sync-outcome.ts";
import { type ExitCode, exitCodes } from "./terminal/exit-codes.ts";

const { interrupted, terminated, damaged, locked, settings, failed, approval, someFailed, incomplete, done } =
  exitCodes;
/** What matters most first. */
const order: readonly ExitCode[] = [
  terminated,
  interrupted,
  damaged,
  locked,
  settings,
  failed,
  approval,
  someFailed,
  incomplete,
  done,
];

/** @param interruptedWith the exit code that an interruption asked for */
export function exitCodeOfWhole(
  { report, errors }: WholeSync,
  interruptedWith: ExitCode | null,
  requiresComplete: boolean,
): ExitCode {
  const { catalogue, media } = report;
  const codes = [exitCodeOfSync(report, interruptedWith, requiresComplete), ...errors.map(exitCodeOf)];
  if (catalogue) codes.push(exitCodeOfSync(catalogue, interruptedWith, requiresComplete));
  if (media?.stopped === "interrupted") codes.push(interruptedWith ?? interrupted);
  if (media && media.pictures.failed > 0) codes.push(someFailed);
  if (media && media.pictures.pending > 0 && requiresComplete) codes.push(incomplete);
  return order.find((code) => codes.includes(code)) ?? failed;
}
