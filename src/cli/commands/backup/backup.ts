/** `armoire backup run|create|verify|restore|list|prune`: archives of a mirror. `run` is the default. */
import type { Command } from "commander";
import { addAccountFlags } from "../../flags/account-flags.ts";
import { addRetentionFlags } from "../../flags/retention-flags.ts";
import { addEncryptOptions } from "../../secrets/passphrase.ts";
import { readSettings } from "../../settings/settings.ts";
import type { SyncAndBackupFlags } from "../../sync-and-backup.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";
import { configureCreate } from "./create.ts";
import { configureListAndPrune } from "./list-and-prune.ts";
import { configureRestore } from "./restore.ts";
import { configureVerify } from "./verify.ts";

const exitCodesOfRun = [
  ...exitCodesOfReading,
  ...(["rejected", "someFailed", "locked", "approval", "interrupted", "terminated"] as const),
];

export function configure(command: Command, io: Io): void {
  const run = configureRun(command, io);
  addHelp(command, {
    details: [
      "A backup is a ZIP file of every response, its history, pictures, and the tables as CSV and JSON, with a README.txt. It " +
        "contains no token. With --encrypt it is an age file. The same state gives the same bytes; encrypted, the same root " +
        "hash. The passphrase comes from --passphrase-file, ARMOIRE_BACKUP_PASSPHRASE or a prompt.",
    ],
    examples: [
      "armoire backup --account ada --to /media/stick",
      "armoire backup --account ada --to backups --keep-daily 30 --quiet",
      "armoire backup create --account ada --to ada.zip.age --encrypt",
      "armoire backup verify ada.zip",
      "armoire backup restore ada.zip --mirror ada.sqlite",
      "armoire backup list backups",
      "armoire backup prune backups --keep-daily 30 --keep-yearly 100 --dry-run",
    ],
    exitCodes: [...exitCodesOfRun, "incomplete"],
    defaultCommand: run,
  });
  configureCreate(command, io);
  configureVerify(command, io);
  configureRestore(command, io);
  configureListAndPrune(command, io);
}

function configureRun(backup: Command, io: Io): Command {
  const run = backup
    .command("run", { isDefault: true })
    .description("sync an account, back it up, verify and prune, as `armoire backup` alone does");
  addRetentionFlags(addEncryptOptions(addAccountFlags(run)), "backup")
    .requiredOption("--to <dir>", "the existing folder for backups")
    .option("--require-complete", "exit with 8 unless the sync and the backup are complete")
    .action(async (flags: SyncAndBackupFlags, run: Command) => {
      // Loaded only here: the other subcommands are offline.
      const { syncAndBackUp } = await import("../../sync-and-backup.ts");
      await syncAndBackUp(flags, readSettings(run, io), io);
    });
  addHelp(run, {
    details: [
      "For cron, add --quiet: then it prints only problems. The exit code is that of the sync. If the sync fails, the backup " +
        "contains the data so far, and no backup is removed. Without a --keep option no backup is removed, either.",
      "The brands, models and sizes of the bras are part of it once --with-catalogue was given for the account, also after a " +
        "restore on another machine.",
    ],
    examples: [
      "armoire backup --account ada --to /media/stick",
      "armoire backup --account ada --to backups --keep-daily 30 --quiet",
    ],
    exitCodes: [...exitCodesOfRun, "incomplete"],
  });
  return run;
}
