/** From any error to the lines that a person reads and the code that a script reads: the one place that decides. */
import { ExportError } from "../../exports/export-error.ts";
import { RedisError, type RedisErrorCode } from "../../jobs/bullmq/redis-error.ts";
import { AccountError, type AccountErrorCode } from "../accounts/account-error.ts";
import { BackupError, type BackupErrorCode } from "../backup/backup-error.ts";
import { ChangeError, type ChangeErrorCode } from "../change/change-error.ts";
import { MirrorError, type MirrorErrorCode } from "../mirror/file/errors.ts";
import { PointError } from "../mirror/points/point-error.ts";
import { QueryError, type QueryErrorCode } from "../query/query-error.ts";
import { ScheduleError, type ScheduleErrorCode } from "../schedule/schedule-error.ts";
import { ServiceSettingsError } from "../service/settings-error.ts";
import { LedgerError, type LedgerErrorCode } from "../sync/ledger/ledger-error.ts";
import { SyncError, type SyncErrorCode } from "../sync/sync-error.ts";
import { CliError, type ExitCode, exitCodes } from "./terminal/exit-codes.ts";
import { toShown } from "./terminal/text-table.ts";

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
