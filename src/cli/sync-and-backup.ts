/** `armoire backup` alone: sync, create, verify and prune, suitable for cron. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { Account } from "../accounts/account.ts";
import { noteCreatedBackup } from "../accounts/newest-backup.ts";
import { type BackedUp, backUp } from "../archive/back-up.ts";
import { describeMissing, isComplete } from "../archive/contents/completeness.ts";
import { requireFolder } from "../archive/destination.ts";
import { isCatalogueLinked } from "../mirror/account/catalogue-linking.ts";
import { userOf } from "../mirror/account/user.ts";
import { MirrorError } from "../mirror/file/errors.ts";
import { readMirror } from "../mirror/reader.ts";
import { type AccountSyncResult, syncAccount } from "../sync/sync-account.ts";
import { type AccountFlags, accountPartsOf, explainRefusal } from "./flags/account-flags.ts";
import { type RetentionFlags, readRetentionFlags } from "./flags/retention-flags.ts";
import { formatAccountParts, formatAccountWarnings, formatReport } from "./format/mirror/report.ts";
import { formatCreated, formatPruned } from "./format/operations/backup.ts";
import { renderBackupPage } from "./format/operations/backup-page.ts";
import { noteBackup } from "./note-backup.ts";
import { readCredential } from "./secrets/credentials.ts";
import { type EncryptFlags, readNewPassphrase } from "./secrets/passphrase.ts";
import { catalogueFileOf, ledgerFile } from "./settings/mirror-file.ts";
import type { Settings } from "./settings/settings.ts";
import {
  CliError,
  describeError,
  exitCodeOf,
  exitCodeOfAccountSync,
  exitCodes,
} from "./terminal/exit-codes.ts";
import { toJsonLine } from "./terminal/format.ts";
import { type Io, interruptSignal, printText } from "./terminal/io.ts";
import { formatProgress, progressDisplay } from "./terminal/progress-display.ts";
import { escapeControls } from "./terminal/safe-text.ts";

export interface SyncAndBackupFlags
  extends EncryptFlags,
    RetentionFlags,
    Pick<AccountFlags, "withCatalogue" | "media"> {
  readonly to: string;
  readonly requireComplete?: boolean;
}

export async function syncAndBackUp(flags: SyncAndBackupFlags, settings: Settings, io: Io): Promise<void> {
  const account = requireAccountToBackUp(settings);
  await requireFolder(flags.to);
  const encryption = await readNewPassphrase(flags, io);
  const keep = readRetentionFlags(flags);
  const signal = interruptSignal(io, "everything fetched is saved, and no backup was created");
  const display = progressDisplay(io, performance.now.bind(performance), formatProgress);
  const notify = (text: string) => {
    display.end();
    if (!settings.quiet) io.err(text);
  };
  const withCatalogue = flags.withCatalogue === true || wasCatalogueRequested(account);
  const parts = accountPartsOf({ ...flags, withCatalogue }, settings, io, notify);
  const sync = async () =>
    await syncAccount({
      file: account.mirrorFile,
      baseUrl: account.baseUrl,
      serviceName: account.serviceName,
      credential: await readCredential(settings, io),
      ledgerFile: ledgerFile(settings),
      ...parts,
      account,
      user: userOf(account),
      tokenAt: account.tokenAt,
      signal,
      onLowSpace: (warning) => io.err(`${warning}\n`),
      onProgress: settings.quiet ? () => {} : display.update,
    }).finally(display.end);
  const done = await backUp({
    mirror: account.mirrorFile,
    account: account.name,
    to: flags.to,
    sync,
    signal,
    renderPage: renderBackupPage,
    catalogue: catalogueFileOf(settings),
    ...encryption,
    ...(keep && { keep }),
  }).catch((error: unknown) => {
    throw explainRefusal(error, account);
  });
  const note = noteCreatedBackup(account, done.created, new Date().toISOString());
  await noteBackup(io, note, settings.verbose);
  // A failed sync comes before the report of the backup.
  const failure = "error" in done.synced ? explainRefusal(done.synced.error, account) : null;
  if (failure !== null) io.err(describeError(failure, settings.verbose));
  if (settings.json) io.out(toJsonLine(jsonOf(done)));
  else if (!settings.quiet) printText(io, describe(done, account.name));
  else io.err(describeWarnings(done, account.name));
  if ("report" in done.synced) {
    const { report, errors: syncErrors } = done.synced.report;
    const errors = [...syncErrors, ...catalogueErrors(done)];
    for (const text of new Set(errors.map((error) => describeError(error, settings.verbose)))) io.err(text);
    const code = exitCodeOfAccountSync({ report, errors }, null, flags);
    const isGap = flags.requireComplete === true && !isComplete(done.created.manifest);
    if (code !== exitCodes.done) io.setExitCode(code);
    else if (isGap) io.setExitCode(exitCodes.incomplete);
    return;
  }
  for (const each of catalogueErrors(done)) io.err(describeError(each, settings.verbose));
  if (!settings.quiet) io.err("The backup contains the data mirrored before.\n");
  io.setExitCode(exitCodeOf(failure));
}

/** Whether an earlier sync had the catalogue part, perhaps on the machine that a restored mirror comes from. */
function wasCatalogueRequested({ mirrorFile }: Account): boolean {
  if (!existsSync(mirrorFile)) return false;
  try {
    return readMirror(mirrorFile, ({ db }) => isCatalogueLinked(db));
  } catch (error) {
    // The sync reports what is wrong with the mirror.
    if (error instanceof MirrorError) return false;
    throw error;
  }
}

const catalogueErrors = ({ created: { catalogueError } }: BackedUp<AccountSyncResult>): unknown[] =>
  catalogueError === null ? [] : [catalogueError];

/** @throws CliError without an account */
export function requireAccountToBackUp({ account }: Pick<Settings, "account">): Account {
  if (account !== null) return account;
  const hint = "Give --account NAME. `armoire backup create` backs up any mirror, without a sync.";
  throw new CliError("usage", "Missing --account NAME.", hint);
}

function describe({ synced, created, pruned }: BackedUp<AccountSyncResult>, account: string): string {
  const describeSync = ({ report }: AccountSyncResult, now: number) =>
    formatReport(report, { outlook: null, now, reserve: 0, account, limits: null }) +
    formatAccountParts(report, account, now);
  const syncText = "report" in synced ? describeSync(synced.report, Date.now()) : "";
  return `${syncText}${formatCreated(created)}${pruned === null ? "" : formatPruned(pruned, basename)}`;
}

/** For --quiet. */
function describeWarnings({ synced, created }: BackedUp<AccountSyncResult>, account: string): string {
  const missing = describeMissing(created.manifest);
  const backupText = missing === null ? "" : `armoire: backup of ${account}: ${escapeControls(missing)}\n`;
  return ("report" in synced ? formatAccountWarnings(synced.report.report, account) : "") + backupText;
}

function jsonOf({ synced, created, pruned }: BackedUp<AccountSyncResult>) {
  const { catalogueError: _reported, ...backup } = created;
  return { sync: "report" in synced ? synced.report.report : null, backup, pruned };
}
