/** `armoire backup` alone: sync, create, verify and prune, fit for a timer. */
import { basename } from "node:path";
import { type BackedUp, backUp } from "../backup/back-up.ts";
import { requireFolder } from "../backup/backup-place.ts";
import { describeMissing } from "../backup/missing.ts";
import type { SyncReport } from "../sync/report.ts";
import { sync } from "../sync/sync.ts";
import { readCredential } from "./credentials.ts";
import { describeCreated, describePruned } from "./describe-backup.ts";
import { describeReport } from "./describe-report.ts";
import { describeTroubleAlone } from "./describe-trouble.ts";
import { describeError, exitCodeOf } from "./errors.ts";
import { CliError, exitCodes } from "./exit-codes.ts";
import { interruptionOf } from "./interruption.ts";
import type { Io } from "./io.ts";
import { type KeepOptions, readKeepOptions } from "./keep-options.ts";
import { ledgerFile } from "./mirror-file.ts";
import { type EncryptFlags, readNewPassphrase } from "./passphrase.ts";
import { describeProgress, progressDisplay } from "./progress-display.ts";
import type { Settings } from "./settings.ts";
import { exitCodeOfSync, explainRefusal } from "./sync-outcome.ts";
import { toShown } from "./text-table.ts";

export interface OneGoFlags extends EncryptFlags, KeepOptions {
  readonly to: string;
}

export async function backUpInOneGo(flags: OneGoFlags, settings: Settings, io: Io): Promise<void> {
  const { account } = settings;
  if (account === null) {
    const hint = "Give --account NAME; `armoire backup create` makes a backup of any mirror, without a sync.";
    throw new CliError(exitCodes.usage, "It must be said whose data to back up.", hint);
  }
  await requireFolder(flags.to);
  const encryption = await readNewPassphrase(flags, io);
  const keep = readKeepOptions(flags);
  const signal = interruptionOf(io, "what was fetched is saved, and no backup was made");
  const display = progressDisplay(io, performance.now.bind(performance), describeProgress);
  const bringUpToDate = async () =>
    await sync({
      ...{ file: account.mirrorFile, baseUrl: account.baseUrl, serviceName: account.serviceName },
      ...{
        area: "account",
        credential: await readCredential(settings, io),
        ledgerFile: ledgerFile(settings),
      },
      ...{ user: { userId: String(account.userId), username: account.username }, signal },
      onProgress: settings.quiet ? () => {} : display.update,
    }).finally(display.end);
  const done = await backUp({
    ...{ mirror: account.mirrorFile, account: account.name, to: flags.to, sync: bringUpToDate, signal },
    ...encryption,
    ...(keep && { keep }),
  }).catch((error: unknown) => {
    throw explainRefusal(error, account);
  });
  if (settings.json) io.out(`${JSON.stringify(toJson(done))}\n`);
  else if (!settings.quiet) io.out(describe(done, account.name));
  else io.err(describeTroubleOf(done, account.name));
  if ("report" in done.synced) {
    io.setExitCode(exitCodeOfSync(done.synced.report, null));
    return;
  }
  const error = explainRefusal(done.synced.error, account);
  io.err(describeError(error, settings.verbose));
  if (!settings.quiet) io.err("So the backup is of what had been mirrored before.\n");
  io.setExitCode(exitCodeOf(error));
}

function describe({ synced, created, pruned }: BackedUp<SyncReport>, account: string): string {
  const report =
    "report" in synced
      ? describeReport(synced.report, { outlook: null, now: Date.now(), reserve: 0, account })
      : "";
  return `${report}${describeCreated(created)}${pruned === null ? "" : describePruned(pruned, basename)}`;
}

/** For who asked for quiet. */
function describeTroubleOf({ synced, created }: BackedUp<SyncReport>, account: string): string {
  const missing = describeMissing(created.manifest);
  const ofBackup = missing === null ? "" : `armoire: backup of ${account}: ${toShown(missing)}\n`;
  return ("report" in synced ? describeTroubleAlone(synced.report, account) : "") + ofBackup;
}

function toJson({ synced, created, pruned }: BackedUp<SyncReport>) {
  return { sync: "report" in synced ? synced.report : null, backup: created, pruned };
}
