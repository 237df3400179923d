/** `armoire backup restore`: turns an archive into a new mirror, or into a folder of files. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { kinds } from "../../../../jobs/kinds.ts";
import { requireSameAccount } from "../../../accounts/accounts.ts";
import { restoreBackup, unpackBackup } from "../../../archive/restore.ts";
import { userOf } from "../../../mirror/account/user.ts";
import { rootHashOption } from "../../flags/option-values.ts";
import { formatRestored } from "../../format/operations/backup.ts";
import { addPassphraseOption, passphraseAsker } from "../../secrets/passphrase.ts";
import { requirePlaceForMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError, exitCodes } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";
import type { VerifyFlags } from "./verify.ts";

interface RestoreFlags extends VerifyFlags {
  readonly to?: string;
  readonly replace?: boolean;
}

export function configureRestore(backup: Command, io: Io): void {
  const restore = addPassphraseOption(
    backup.command("restore").description("turn a backup into a new mirror or a folder of files"),
  )
    .argument("<file>", "the backup")
    .option("--to <dir>", "write the files of the backup into this new folder, and no mirror")
    .option("--replace", "with --account: replace an earlier mirror of the same user")
    .addOption(rootHashOption())
    .action((file: string, flags: RestoreFlags, restore: Command) => restoreOne(file, flags, restore, io));
  addHelp(restore, {
    details: [
      "--account NAME restores the mirror of that account, which must be of the same user. --mirror FILE restores into a new " +
        "file; the mirror of an account can be read there, but not synced. The whole backup is verified first. Existing " +
        "files are never changed, except with --replace, and a failed restore leaves nothing. Pictures go into the folder media beside the mirror.",
    ],
    examples: [
      "armoire backup restore ada.zip --account ada",
      "armoire backup restore ada.zip --mirror ada.sqlite",
      "armoire backup restore ada.zip --to ada-files",
    ],
    exitCodes: [...exitCodesOfReading, "rejected", "locked"],
  });
}

async function restoreOne(file: string, flags: RestoreFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { to, rootHash } = flags;
  const { account, mirror } = settings;
  const request = {
    file: resolve(file),
    askPassphrase: passphraseAsker(flags, io),
    ...(rootHash !== undefined && { rootHash }),
  };
  if ((to === undefined) === (mirror.value === null)) {
    const hint = "Give one of --account NAME, --mirror FILE (a new mirror) and --to DIR (a folder of files).";
    throw new CliError("usage", "A restore needs exactly one destination.", hint);
  }
  if (flags.replace === true && account === null)
    throw new CliError("usage", "--replace needs an account.", "Add --account NAME.");
  if (to !== undefined) {
    const { manifest, rootHash } = await unpackBackup({ ...request, folder: to });
    if (settings.json) io.out(toJsonLine({ folder: resolve(to), manifest, rootHash }));
    else if (!settings.quiet)
      printText(io, `The files of the backup are in ${resolve(to)}; README.txt describes them.\n`);
    return;
  }
  if (account === null && mirror.value !== null) requirePlaceForMirror(mirror.value, settings);
  const restored = await restoreBackup({
    ...request,
    replace: flags.replace === true,
    mirror: mirror.value ?? "",
    kinds,
    openedAt: new Date().toISOString(),
    ...(account !== null && {
      of: { baseUrl: account.baseUrl, user: userOf(account) },
      requirePlace: () => requireSameAccount(account),
    }),
  });
  if (restored.check.problems.length > 0) io.setExitCode(exitCodes.damaged);
  if (settings.json) io.out(toJsonLine(restored));
  else if (!settings.quiet) printText(io, formatRestored(restored));
}
