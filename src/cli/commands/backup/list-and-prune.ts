/** `armoire backup list|prune`: the archives in a folder, and removing old ones. */
import { basename, resolve } from "node:path";
import type { Command } from "commander";
import type { Account } from "../../../accounts/account.ts";
import { type BackupOwner, type ListedBackup, listBackups } from "../../../archive/list.ts";
import { pruneBackups } from "../../../archive/prune.ts";
import { userOf } from "../../../mirror/account/user.ts";
import { addRetentionFlags, type RetentionFlags, readRetentionFlags } from "../../flags/retention-flags.ts";
import { formatList, formatPruned } from "../../format/operations/backup.ts";
import { addPassphraseOption, type PassphraseFlags, readKnownPassphrase } from "../../secrets/passphrase.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError, exitCodes } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfVerifying } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";

interface PruneFlags extends RetentionFlags, PassphraseFlags {
  readonly dryRun?: boolean;
}

export function configureListAndPrune(backup: Command, io: Io): void {
  const list = addPassphraseOption(
    backup
      .command("list")
      .description("verify and list the backups in a folder, with the changes between them"),
  )
    .argument("<dir>", "the folder")
    .action((folder: string, flags: PassphraseFlags, list: Command) => listAll(folder, flags, list, io));
  addHelp(list, {
    details: [
      "Backups of one mirror, and of mirrors restored from them, are listed as one series. A damaged backup gives exit code 15. There is no " +
        "prompt for a passphrase: give it by file or environment. With --account, only that account's backups are listed.",
    ],
    examples: ["armoire backup list backups", "armoire backup list backups --account ada --json"],
    exitCodes: [...exitCodesOfVerifying, "damaged"],
  });
  const prune = addPassphraseOption(
    addRetentionFlags(backup.command("prune").description("remove old backups by --keep rules"), "backup"),
  )
    .argument("<dir>", "the folder")
    .option("--dry-run", "print which backups would go, and why the others stay; remove nothing")
    .action((folder: string, flags: PruneFlags, prune: Command) => pruneAll(folder, flags, prune, io));
  addHelp(prune, {
    details: [
      "The rules apply to each user and mirror separately. A backup is kept if at least one rule selects it. These always " +
        "stay: the latest one and its copies, the one of the highest run, the last one with the most linked catalogue " +
        "resources, and files that you named, or renamed to another account or time. Only verified backups are removed or count as kept; damaged ones, and encrypted ones " +
        "without the passphrase, stay. Days, weeks, months and years are in UTC, by the end of the last run.",
    ],
    examples: [
      "armoire backup prune backups --keep-daily 30 --keep-yearly 100 --dry-run",
      "armoire backup prune backups --account ada --keep-monthly 24",
    ],
    exitCodes: [...exitCodesOfVerifying, "damaged", "interrupted", "terminated"],
  });
}

async function listAll(folder: string, flags: PassphraseFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { account } = settings;
  const backups: ListedBackup[] = [];
  const request = { folder, ...readKnownPassphrase(flags, io), ...(account && { of: ownerOf(account) }) };
  for await (const backup of listBackups(request)) backups.push(backup);
  if (backups.some((backup) => !backup.isSound && backup.code === "damaged"))
    io.setExitCode(exitCodes.rejected);
  if (settings.json) io.out(toJsonLine(backups));
  else printText(io, formatList(backups, basename));
}

async function pruneAll(folder: string, flags: PruneFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { account } = settings;
  const keep = readRetentionFlags(flags);
  if (keep === undefined) {
    const hint = "Add rules such as --keep-daily 30 --keep-monthly 24. --dry-run previews them.";
    throw new CliError("usage", "Without a --keep option nothing is removed.", hint);
  }
  const report = await pruneBackups({
    folder: resolve(folder),
    keep,
    isPreview: flags.dryRun === true,
    signal: interruptSignal(io, "nothing was removed"),
    ...readKnownPassphrase(flags, io),
    ...(account && { of: ownerOf(account) }),
  });
  if (settings.json) io.out(toJsonLine(report));
  else if (!settings.quiet || report.isPreview) printText(io, formatPruned(report, basename));
}

function ownerOf(account: Account): BackupOwner {
  const { name, baseUrl, serviceName } = account;
  const service = { baseUrl, name: serviceName };
  return { service, area: "account", account: name, user: userOf(account) };
}
