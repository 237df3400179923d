import { ExportError } from "../../../exports/errors.ts";
import { RedisError, type RedisErrorCode } from "../../../jobs/bullmq/errors.ts";
import type { Account } from "../../accounts/account.ts";
import { AccountError, type AccountErrorCode } from "../../accounts/errors.ts";
import { BackupError, type BackupErrorCode } from "../../archive/errors.ts";
import { ChangeError, type ChangeErrorCode } from "../../change/errors.ts";
import { MirrorError, type MirrorErrorCode } from "../../mirror/file/errors.ts";
import { PointError } from "../../mirror/points/point.ts";
import { QueryError, type QueryErrorCode } from "../../query/sql/errors.ts";
import { ScheduleError, type ScheduleErrorCode } from "../../schedule/errors.ts";
import { ServiceSettingsError } from "../../service/errors.ts";
import { SyncError, type SyncErrorCode } from "../../sync/errors.ts";
import { LedgerError, type LedgerErrorCode } from "../../sync/rate-limit/errors.ts";
import type { SyncReport } from "../../sync/report.ts";
import type { WholeSync } from "../../sync/sync-account.ts";
import { toShown } from "./text-table.ts";

/** What the process's exit code says; scripts rely on these, and `docs/command-line.md` lists them. */
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

/** An error designed for the person at the terminal: what happened and where, then what to do next. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  readonly hint: string | null;
  constructor(exitCode: ExitCode, message: string, hint: string | null = null, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** From any error to the lines that a person reads and the code that a script reads: the one place that decides. */

const ofMirror: Readonly<Record<MirrorErrorCode, ExitCode>> = {
  "not-found": exitCodes.failed,
  "not-a-mirror": exitCodes.failed,
  unwritable: exitCodes.failed,
  damaged: exitCodes.damaged,
  newer: exitCodes.damaged,
  older: exitCodes.failed,
  "unsafe-sqlite": exitCodes.failed,
  locked: exitCodes.locked,
  exists: exitCodes.failed,
  "other-service": exitCodes.settings,
};

const ofSync: Readonly<Record<SyncErrorCode, ExitCode>> = {
  "not-authenticated": exitCodes.settings,
  "other-user": exitCodes.settings,
  "no-user": exitCodes.settings,
  "nothing-fetched": exitCodes.failed,
  "unknown-brand": exitCodes.usage,
  "unknown-link": exitCodes.usage,
};

const ofChange: Readonly<Record<ChangeErrorCode, ExitCode>> = {
  "unknown-name": exitCodes.usage,
  "bad-point": exitCodes.usage,
  "no-such-run": exitCodes.failed,
  "two-services": exitCodes.usage,
  "not-comparable": exitCodes.failed,
};

const ofLedger: Readonly<Record<LedgerErrorCode, ExitCode>> = {
  damaged: exitCodes.damaged,
  newer: exitCodes.damaged,
  "not-a-ledger": exitCodes.failed,
  unwritable: exitCodes.failed,
};

const ofRedis: Readonly<Record<RedisErrorCode, ExitCode>> = {
  "bad-address": exitCodes.usage,
  unreachable: exitCodes.failed,
  unsuitable: exitCodes.settings,
};

const ofAccount: Readonly<Record<AccountErrorCode, ExitCode>> = {
  "bad-name": exitCodes.usage,
  unknown: exitCodes.usage,
  taken: exitCodes.settings,
  refused: exitCodes.settings,
  unidentified: exitCodes.failed,
  "no-token": exitCodes.settings,
  unsafe: exitCodes.settings,
  damaged: exitCodes.damaged,
  newer: exitCodes.damaged,
  busy: exitCodes.locked,
  unwritable: exitCodes.failed,
};

const ofBackup: Readonly<Record<BackupErrorCode, ExitCode>> = {
  damaged: exitCodes.damaged,
  newer: exitCodes.damaged,
  "needs-passphrase": exitCodes.settings,
  "wrong-passphrase": exitCodes.settings,
  "other-account": exitCodes.settings,
  exists: exitCodes.failed,
  "not-found": exitCodes.failed,
  "wrong-place": exitCodes.usage,
  unreadable: exitCodes.failed,
  "write-failed": exitCodes.failed,
  "too-big": exitCodes.failed,
  "nothing-held": exitCodes.failed,
};

const ofSchedule: Readonly<Record<ScheduleErrorCode, ExitCode>> = {
  "bad-name": exitCodes.usage,
  "bad-time": exitCodes.usage,
  unknown: exitCodes.usage,
  taken: exitCodes.usage,
  "too-many": exitCodes.failed,
  inexpressible: exitCodes.failed,
  damaged: exitCodes.damaged,
  newer: exitCodes.damaged,
  busy: exitCodes.locked,
};

const wrongQueries: readonly QueryErrorCode[] = ["syntax", "not-read-only", "parameters", "question"];

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  if (error instanceof MirrorError) return ofMirror[error.code];
  if (error instanceof AccountError) return ofAccount[error.code];
  if (error instanceof ChangeError) return ofChange[error.code];
  if (error instanceof BackupError) return ofBackup[error.code];
  if (error instanceof SyncError) return ofSync[error.code];
  if (error instanceof RedisError) return ofRedis[error.code];
  if (error instanceof ScheduleError) return ofSchedule[error.code];
  if (error instanceof LedgerError) return ofLedger[error.code];
  if (error instanceof ServiceSettingsError) return exitCodes.settings;
  if (error instanceof PointError) return error.code === "syntax" ? exitCodes.usage : exitCodes.failed;
  if (error instanceof ExportError && error.code === "bad-table-name") return exitCodes.usage;
  if (error instanceof QueryError) {
    if (error.code === "damaged") return exitCodes.damaged;
    return wrongQueries.includes(error.code) ? exitCodes.usage : exitCodes.failed;
  }
  return exitCodes.failed;
}

/** One to three lines: what happened and where, what to do next. The stack only with `--verbose`. */
export function describeError(error: unknown, isVerbose: boolean): string {
  const lines = [`armoire: ${error instanceof Error ? error.message : String(error)}`];
  const hint = isDesigned(error) ? error.hint : "This is unexpected. --verbose shows where it happened.";
  if (hint !== null) lines.push(hint);
  if (isVerbose && error instanceof Error) {
    lines.push(...(error.stack ?? "").split("\n"));
    if (error.cause instanceof Error) lines.push(`Caused by: ${error.cause.message}`);
  }
  // A message may quote what the service sent.
  return lines.map((line) => `${toShown(line)}\n`).join("");
}

/** Every error of ours that may reach a person has a hint, or says that there is none to give. */
function isDesigned(error: unknown): error is Error & { readonly hint: string | null } {
  return error instanceof Error && "hint" in error;
}

/** What becomes of a sync for the person and the script that asked for it. */

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

/** The exit code of a sync of several parts: what matters most of what they say. */

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
