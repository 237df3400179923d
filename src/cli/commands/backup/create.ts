/** `armoire backup create`: one archive of a mirror, verified after writing. */
import type { Command } from "commander";
import { createBackup, verifyWritten } from "../../../archive/create.ts";
import { requirePlace } from "../../../archive/destination.ts";
import { formatCreated } from "../../format/backup.ts";
import { addEncryptOptions, type EncryptFlags, readNewPassphrase } from "../../secrets/passphrase.ts";
import { catalogueFileBeside, mirrorFileToRead } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { describeError, exitCodeOf } from "../../terminal/exit-codes.ts";
import { addHelp } from "../../terminal/help.ts";
import { type Io, interruptSignal } from "../../terminal/io.ts";

interface CreateFlags extends EncryptFlags {
  readonly to: string;
  readonly replace?: boolean;
}

export function configureCreate(backup: Command, io: Io): void {
  const create = addEncryptOptions(
    backup.command("create").description("write one backup of a mirror, offline, and verify it"),
  )
    .requiredOption("--to <place>", "a folder, or a new file that ends in .zip (.zip.age with --encrypt)")
    .option("--replace", "replace an existing file")
    .action((flags: CreateFlags, create: Command) => createOne(flags, create, io));
  addHelp(create, {
    details: [
      "In a folder, the file is named by the account and the end of the last run: armoire-ada-2026-11-03T060412Z.zip. Another " +
        "state of the same second gets a number, and the same state is not written twice. Only you may read the file. README.txt " +
        "and the manifest list missing resources. The backup of an account includes its linked catalogue resources after a " +
        "sync with --with-catalogue; if the catalogue's mirror cannot be read, they are left out with a warning and an exit " +
        "code.",
      "Without --account or --mirror it backs up the catalogue's mirror. Keep the printed root hash elsewhere: it identifies " +
        "the contents of the backup. An existing file is only replaced with --replace, unless it is the same backup.",
    ],
    examples: [
      "armoire backup create --account ada --to ada.zip.age --encrypt",
      "armoire backup create --account ada --to backups",
    ],
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
    catalogue: catalogueFileBeside(settings),
    signal: interruptSignal(io, "nothing was written"),
  });
  await verifyWritten(created, encryption);
  const { catalogueError, ...report } = created;
  if (catalogueError !== null) {
    io.err(describeError(catalogueError, settings.verbose));
    io.setExitCode(exitCodeOf(catalogueError));
  }
  if (settings.json) io.out(`${JSON.stringify(report)}\n`);
  else if (!settings.quiet) io.out(formatCreated(created));
}
