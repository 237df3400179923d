/** The process's exit codes: what each means, which error leads to which, and what is printed of an error. */
import { ArmoireError, type ErrorKind, errorClass } from "../../platform/errors.ts";
import type { SyncReport } from "../../sync/report.ts";
import type { AccountSyncResult } from "../../sync/sync-account.ts";
import { escapeControls } from "./text-table.ts";

/** Scripts rely on these; `docs/command-line.md` lists them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  someFailed: 3,
  settings: 4,
  incomplete: 8,
  locked: 11,
  approval: 12,
  damaged: 14,
  different: 20,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Where several codes apply, the first of these counts. */
const precedence: readonly ExitCode[] = [
  exitCodes.terminated,
  exitCodes.interrupted,
  exitCodes.damaged,
  exitCodes.locked,
  exitCodes.settings,
  exitCodes.failed,
  exitCodes.approval,
  exitCodes.someFailed,
  exitCodes.incomplete,
  exitCodes.done,
];

const codeOfKind: Readonly<Record<ErrorKind, ExitCode>> = {
  failed: exitCodes.failed,
  usage: exitCodes.usage,
  settings: exitCodes.settings,
  locked: exitCodes.locked,
  damaged: exitCodes.damaged,
  interrupted: exitCodes.interrupted,
  terminated: exitCodes.terminated,
};

/** What the command line itself refuses. */
export class CliError extends errorClass("CliError", {
  failed: "failed",
  usage: "usage",
  settings: "settings",
  interrupted: "interrupted",
  terminated: "terminated",
}) {}

/** @param outcome the state that the command leaves, such as "nothing was written" */
export function interruptedError(exitCode: ExitCode, outcome: string): CliError {
  const code = exitCode === exitCodes.interrupted ? "interrupted" : "terminated";
  return new CliError(code, `Interrupted; ${outcome}.`);
}

export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof ArmoireError ? codeOfKind[error.kind] : exitCodes.failed;
}

/** One to three lines: what happened and where, then what to do next. The stack only with `--verbose`. */
export function describeError(error: unknown, isVerbose: boolean): string {
  const lines = [`armoire: ${error instanceof Error ? error.message : String(error)}`];
  const hint = hasHint(error) ? error.hint : "This is unexpected. --verbose shows where it happened.";
  if (hint !== "") lines.push(hint);
  if (isVerbose && error instanceof Error) {
    lines.push(...(error.stack ?? "").split("\n"));
    if (error.cause instanceof Error) lines.push(`Caused by: ${error.cause.message}`);
  }
  // A message may quote the service.
  return lines.map((line) => `${escapeControls(line)}\n`).join("");
}

/** An ArmoireError, or an error of the sandbox, which shares no code with the rest. */
function hasHint(error: unknown): error is Error & { readonly hint: string } {
  return error instanceof Error && "hint" in error;
}

/** @param interruptedWith the exit code of the signal that interrupted the run */
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

/**
 * Of a sync of an account with its catalogue part and pictures.
 * @param interruptedWith the exit code of the signal that interrupted the run
 */
export function exitCodeOfAccountSync(
  { report, errors }: AccountSyncResult,
  interruptedWith: ExitCode | null,
  requiresComplete: boolean,
): ExitCode {
  const { catalogue, media } = report;
  const codes = [exitCodeOfSync(report, interruptedWith, requiresComplete), ...errors.map(exitCodeOf)];
  if (catalogue) codes.push(exitCodeOfSync(catalogue, interruptedWith, requiresComplete));
  if (media?.stopped === "interrupted") codes.push(interruptedWith ?? exitCodes.interrupted);
  if (media && media.pictures.failed > 0) codes.push(exitCodes.someFailed);
  if (media && media.pictures.pending > 0 && requiresComplete) codes.push(exitCodes.incomplete);
  return precedence.find((code) => codes.includes(code)) ?? exitCodes.failed;
}
