/** `armoire backup create`: one archive of a mirror, verified after writing. */

import type { Command } from "commander";
import { noteCreatedBackup } from "../../../accounts/newest-backup.ts";
import { isComplete } from "../../../archive/contents/completeness.ts";
import { createBackup, verifyWritten } from "../../../archive/create.ts";
import { requirePlace } from "../../../archive/destination.ts";
import { formatCreated } from "../../format/operations/backup.ts";
import { renderBackupPage } from "../../format/operations/backup-page.ts";
import { noteBackup } from "../../note-backup.ts";
import { addEncryptOptions, type EncryptFlags, readNewPassphrase } from "../../secrets/passphrase.ts";
import { catalogueFileBeside, mirrorFileToRead } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { describeError, exitCodeOf, exitCodes } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";

interface CreateFlags extends EncryptFlags {
  readonly to: string;
  readonly replace?: boolean;
  readonly requireComplete?: boolean;
}

export function configureCreate(backup: Command, io: Io): void {
  const create = addEncryptOptions(
    backup.command("create").description("write one backup of a mirror, offline, and verify it"),
  )
    .requiredOption("--to <place>", "a folder, or a new file that ends in .zip (.zip.age with --encrypt)")
    .option("--replace", "replace an existing file")
    .option("--require-complete", "exit with 8 unless the backup is complete")
    .action((flags: CreateFlags, create: Command) => createOne(flags, create, io));
  addHelp(create, {
    details: [
      "If --to is a folder, the file gets a name from the account and the end of the last run, such as " +
        "armoire-ada-2026-11-03T060412Z.zip. If the same backup exists already, nothing is written; a different one of the " +
        "same name gets a number. Only you may read the file. Its README.txt and its manifest list missing resources.",
      "The backup of an account includes the brands, models and sizes of its bras after a sync with --with-catalogue. If the " +
        "catalogue's mirror cannot be read, the backup is made without them, and the command ends with a warning and the exit " +
        "code of that problem.",
      "Without --account or --mirror it backs up the catalogue's mirror. Keep the printed root hash elsewhere: with it you can " +
        "prove later that the backup is unchanged. A file named with --to is replaced only with --replace.",
    ],
    examples: [
      "armoire backup create --account ada --to ada.zip.age --encrypt",
      "armoire backup create --account ada --to backups",
    ],
    exitCodes: [...exitCodesOfReading, "rejected", "interrupted", "terminated"],
  });
}

async function createOne(flags: CreateFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const mirror = mirrorFileToRead(settings);
  const { to, replace = false } = flags;
  await requirePlace({ to, replace, isEncrypted: flags.encrypt === true });
  const encryption = await readNewPassphrase(flags, io);
  const created = await createBackup({
    mirror,
    account: settings.account?.name ?? null,
    to,
    replace,
    ...encryption,
    renderPage: renderBackupPage,
    catalogue: catalogueFileBeside(settings),
    signal: interruptSignal(io, "nothing was written"),
  });
  await verifyWritten(created, encryption);
  if (settings.account) {
    const note = noteCreatedBackup(settings.account, created, new Date().toISOString());
    await noteBackup(io, note, settings.verbose);
  }
  const { catalogueError, ...report } = created;
  if (catalogueError !== null) {
    io.err(describeError(catalogueError, settings.verbose));
    io.setExitCode(exitCodeOf(catalogueError));
  } else if (flags.requireComplete && !isComplete(created.manifest)) io.setExitCode(exitCodes.incomplete);
  if (settings.json) io.out(toJsonLine(report));
  else if (!settings.quiet) printText(io, formatCreated(created));
}
