/** `armoire backup` alone: sync, create, verify and prune, fit for a timer. */

import { basename } from "node:path";
import type { Account } from "../accounts/account.ts";
import { type BackedUp, backUp } from "../archive/back-up.ts";
import { describeMissing } from "../archive/contents/completeness.ts";
import { requireFolder } from "../archive/destination.ts";
import { userOf } from "../mirror/account/user.ts";
import { type AccountSyncResult, syncAccount } from "../sync/sync-account.ts";
import { type AccountFlags, accountPartsOf, explainRefusal } from "./flags/account-flags.ts";
import { type RetentionFlags, readRetentionFlags } from "./flags/retention-flags.ts";
import { formatCreated, formatPruned } from "./format/backup.ts";
import { formatAccountParts, formatAccountWarnings, formatReport } from "./format/report.ts";
import { readCredential } from "./secrets/credentials.ts";
import { type EncryptFlags, readNewPassphrase } from "./secrets/passphrase.ts";
import { catalogueFileOf, ledgerFile } from "./settings/mirror-file.ts";
import type { Settings } from "./settings/settings.ts";
import { CliError, describeError, exitCodeOf, exitCodeOfAccountSync } from "./terminal/exit-codes.ts";
import { type Io, interruptSignal } from "./terminal/io.ts";
import { formatProgress, progressDisplay } from "./terminal/progress-display.ts";
import { escapeControls } from "./terminal/text-table.ts";

export interface SyncAndBackupFlags
  extends EncryptFlags,
    RetentionFlags,
    Pick<AccountFlags, "withCatalogue" | "media"> {
  readonly to: string;
}

export async function syncAndBackUp(flags: SyncAndBackupFlags, settings: Settings, io: Io): Promise<void> {
  const account = requireAccountToBackUp(settings);
  await requireFolder(flags.to);
  const encryption = await readNewPassphrase(flags, io);
  const keep = readRetentionFlags(flags);
  const signal = interruptSignal(io, "what was fetched is saved, and no backup was made");
  const display = progressDisplay(io, performance.now.bind(performance), formatProgress);
  const remark = (text: string) => {
    display.end();
    if (!settings.quiet) io.err(text);
  };
  const parts = accountPartsOf(flags, settings, io, remark);
  const bringUpToDate = async () =>
    await syncAccount({
      file: account.mirrorFile,
      baseUrl: account.baseUrl,
      serviceName: account.serviceName,
      credential: await readCredential(settings, io),
      ledgerFile: ledgerFile(settings),
      ...parts,
      user: userOf(account),
      signal,
      onProgress: settings.quiet ? () => {} : display.update,
    }).finally(display.end);
  const done = await backUp({
    mirror: account.mirrorFile,
    account: account.name,
    to: flags.to,
    sync: bringUpToDate,
    signal,
    catalogue: catalogueFileOf(settings),
    ...encryption,
    ...(keep && { keep }),
  }).catch((error: unknown) => {
    throw explainRefusal(error, account);
  });
  if (settings.json) io.out(`${JSON.stringify(toJson(done))}\n`);
  else if (!settings.quiet) io.out(describe(done, account.name));
  else io.err(describeTroubleOf(done, account.name));
  if ("report" in done.synced) {
    const { report, errors: ofSync } = done.synced.report;
    const errors = [...ofSync, ...troubleWithCatalogue(done)];
    for (const text of new Set(errors.map((error) => describeError(error, settings.verbose)))) io.err(text);
    io.setExitCode(exitCodeOfAccountSync({ report, errors }, null, false));
    return;
  }
  const error = explainRefusal(done.synced.error, account);
  for (const one of [error, ...troubleWithCatalogue(done)]) io.err(describeError(one, settings.verbose));
  if (!settings.quiet) io.err("So the backup is of what had been mirrored before.\n");
  io.setExitCode(exitCodeOf(error));
}

const troubleWithCatalogue = ({ created: { catalogueError } }: BackedUp<AccountSyncResult>): unknown[] =>
  catalogueError === null ? [] : [catalogueError];

/** @throws CliError where none is named */
export function requireAccountToBackUp({ account }: Pick<Settings, "account">): Account {
  if (account !== null) return account;
  const hint = "Give --account NAME; `armoire backup create` makes a backup of any mirror, without a sync.";
  throw new CliError("usage", "It must be said whose data to back up.", hint);
}

function describe({ synced, created, pruned }: BackedUp<AccountSyncResult>, account: string): string {
  const of = ({ report }: AccountSyncResult, now: number) =>
    formatReport(report, { outlook: null, now, reserve: 0, account }) +
    formatAccountParts(report, account, now);
  const told = "report" in synced ? of(synced.report, Date.now()) : "";
  return `${told}${formatCreated(created)}${pruned === null ? "" : formatPruned(pruned, basename)}`;
}

/** For who asked for quiet. */
function describeTroubleOf({ synced, created }: BackedUp<AccountSyncResult>, account: string): string {
  const missing = describeMissing(created.manifest);
  const ofBackup = missing === null ? "" : `armoire: backup of ${account}: ${escapeControls(missing)}\n`;
  return ("report" in synced ? formatAccountWarnings(synced.report.report, account) : "") + ofBackup;
}

function toJson({ synced, created, pruned }: BackedUp<AccountSyncResult>) {
  const { catalogueError: _told, ...backup } = created;
  return { sync: "report" in synced ? synced.report.report : null, backup, pruned };
}
