/** The exit codes: their meanings, the code of each error and of each report, and the text printed for an error. */
import { ArmoireError, type ErrorKind, errorClass, messageOf } from "../../platform/errors.ts";
import type { SyncReport } from "../../sync/report.ts";
import type { AccountSyncResult } from "../../sync/sync-account.ts";
import { escapeControls } from "./safe-text.ts";

/** Scripts rely on these numbers. */
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
  rejected: 15,
  drift: 16,
  different: 20,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCodeName = keyof typeof exitCodes;

export type ExitCode = (typeof exitCodes)[ExitCodeName];

interface ExitCodeMeaning {
  readonly label: string;
  readonly details: string;
}

export const exitCodeMeanings: Readonly<Record<ExitCodeName, ExitCodeMeaning>> = {
  done: { label: "done", details: "also when the day's allowance or the budget is spent" },
  failed: { label: "failed", details: "also when the mirror has no such resource or run" },
  usage: { label: "wrong usage", details: "also an unknown account, `--brand` or `--field`" },
  someFailed: {
    label: "some resources failed",
    details: "or some lists are partial; the next sync tries them again",
  },
  settings: {
    label: "not authenticated or wrong settings",
    details: "also when other users could read or change a private file",
  },
  incomplete: { label: "incomplete", details: "only with `--require-complete`" },
  locked: {
    label: "locked",
    details: "another process writes the mirror, or adds or removes an account",
  },
  approval: {
    label: "approval required",
    details: "more than a fifth of a list, or of one kind, disappeared at once; see `--approve`",
  },
  damaged: {
    label: "damaged",
    details: "or written by a newer version: the mirror, the ledger or an account's file",
  },
  rejected: { label: "backup or export rejected", details: "it is damaged or of another version" },
  drift: {
    label: "schema drift",
    details: "only with `--on-drift fail`: the responses have something new; everything is saved",
  },
  different: { label: "differences found", details: "only with `--exit-code`" },
  interrupted: { label: "interrupted", details: "by Ctrl-C; everything fetched is saved" },
  terminated: { label: "terminated", details: "everything fetched is saved" },
};

/** Where several codes apply, the first of these is used. */
export const precedence: readonly ExitCode[] = [
  exitCodes.terminated,
  exitCodes.interrupted,
  exitCodes.damaged,
  exitCodes.rejected,
  exitCodes.locked,
  exitCodes.settings,
  exitCodes.usage,
  exitCodes.failed,
  exitCodes.approval,
  exitCodes.drift,
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
  rejected: exitCodes.rejected,
  incomplete: exitCodes.incomplete,
  interrupted: exitCodes.interrupted,
  terminated: exitCodes.terminated,
};

/** An error of the command line itself. */
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

/** One to three lines: what happened and where, then what to do next. With `--verbose`, also the stack. */
export function describeError(error: unknown, isVerbose: boolean): string {
  const lines = [`armoire: ${messageOf(error)}`];
  const hint = hasHint(error) ? error.hint : hintForOther(error);
  if (hint !== "") lines.push(hint);
  if (isVerbose && error instanceof Error) {
    lines.push(...(error.stack ?? "").split("\n"));
    if (error.cause instanceof Error) lines.push(`Caused by: ${error.cause.message}`);
  }
  // A message may quote the service, so control characters are escaped.
  return lines.map((line) => `${escapeControls(line)}\n`).join("");
}

const tooManyFiles =
  "Too many files are open. End other programs, or raise the limit of open files (ulimit -n).";
const hintsOfLimits: Readonly<Record<string, string>> = {
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
  EAGAIN: "Too many processes or threads are running. End other programs, or raise their limit (ulimit -u).",
};

/** The system's limits can stop the program anywhere, even while it loads its code. */
function hintForOther(error: unknown): string {
  const causes = error instanceof Error ? [error, error.cause] : [];
  const hints = causes.map((cause) => hintsOfLimits[systemCodeOf(cause) ?? ""]);
  return hints.find((hint) => hint !== undefined) ?? "This is unexpected. --verbose shows where it happened.";
}

/** Of a thread that could not be started, Node has it only at the end of the message. */
function systemCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return error.code === "ERR_WORKER_INIT_FAILED" ? error.message.replace(/^.* /, "") : String(error.code);
}

/** True for an ArmoireError, and for an error of the sandbox, which shares no code with the rest. */
function hasHint(error: unknown): error is Error & { readonly hint: string } {
  return error instanceof Error && "hint" in error;
}

/** What else than failures ends a sync with an exit code of its own. */
export interface SyncRequirements {
  /** As `--require-complete`. */
  readonly requireComplete?: boolean | undefined;
  /** As `--on-drift`. */
  readonly onDrift?: "warn" | "fail" | undefined;
}

function exitCodeOfSync(
  report: SyncReport,
  interruptedWith: ExitCode | null,
  { requireComplete, onDrift }: SyncRequirements,
): ExitCode {
  if (report.stopped === "interrupted") return interruptedWith ?? exitCodes.interrupted;
  if (report.stopped === "error") return exitCodes.failed;
  if (report.resources.awaitingApproval > 0) return exitCodes.approval;
  if (onDrift === "fail" && report.drift.length > 0) return exitCodes.drift;
  if (report.resources.failed > 0 || report.resources.partial > 0) return exitCodes.someFailed;
  return requireComplete && !report.complete ? exitCodes.incomplete : exitCodes.done;
}

/**
 * The exit code of a sync of an account with its catalogue part and pictures.
 * @param interruptedWith the exit code of the signal that interrupted the run
 */
export function exitCodeOfAccountSync(
  { report, errors }: AccountSyncResult,
  interruptedWith: ExitCode | null,
  requirements: SyncRequirements,
): ExitCode {
  const { catalogue, media } = report;
  const codes = [exitCodeOfSync(report, interruptedWith, requirements), ...errors.map(exitCodeOf)];
  if (catalogue) codes.push(exitCodeOfSync(catalogue, interruptedWith, requirements));
  if (media?.stopped === "interrupted") codes.push(interruptedWith ?? exitCodes.interrupted);
  if (media && media.pictures.failed > 0) codes.push(exitCodes.someFailed);
  if (media && media.pictures.pending > 0 && requirements.requireComplete) codes.push(exitCodes.incomplete);
  return precedence.find((code) => codes.includes(code)) ?? exitCodes.failed;
}
