/** `armoire backup verify`: checks every byte of an archive. */

import { resolve } from "node:path";
import type { Command } from "commander";
import { noteCheckedBackup } from "../../../accounts/newest-backup.ts";
import { verifyBackup } from "../../../archive/verify.ts";
import { rootHashOption } from "../../flags/option-values.ts";
import { formatVerified } from "../../format/operations/backup.ts";
import { noteBackup } from "../../note-backup.ts";
import { addPassphraseOption, type PassphraseFlags, passphraseAsker } from "../../secrets/passphrase.ts";
import { readSettings } from "../../settings/settings.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfVerifying } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";

export interface VerifyFlags extends PassphraseFlags {
  readonly rootHash?: string;
}

export function configureVerify(backup: Command, io: Io): void {
  const verify = addPassphraseOption(backup.command("verify").description("check every byte of a backup"))
    .argument("<file>", "the backup")
    .addOption(rootHashOption())
    .action((file: string, flags: VerifyFlags, verify: Command) => verifyOne(file, flags, verify, io));
  addHelp(verify, {
    details: [
      "Finds damaged, missing, added, swapped and repeated entries (exit code 15). Without --root-hash it finds damage, but no " +
        "forgery: anyone who can write the file can write matching checksums. Encryption proves only that the author " +
        "knew the passphrase. If --root-hash matches, it is exactly the backup that was made. A wrong passphrase gives exit code 4.",
    ],
    examples: [
      "armoire backup verify ada.zip",
      "armoire backup verify ada.zip.age --passphrase-file ada.passphrase",
    ],
    exitCodes: exitCodesOfVerifying,
  });
}

async function verifyOne(file: string, flags: VerifyFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { rootHash } = flags;
  const report = await verifyBackup({
    file: resolve(file),
    askPassphrase: passphraseAsker(flags, io),
    ...(rootHash !== undefined && { rootHash }),
  });
  const checked = { file: report.file, rootHash: report.problems.length > 0 ? null : report.rootHash };
  const note = noteCheckedBackup(settings.dataDir.value, checked, new Date().toISOString());
  await noteBackup(io, note, settings.verbose);
  if (report.problems.length > 0) io.setExitCode(exitCodes.rejected);
  if (settings.json) io.out(toJsonLine(report));
  else if (!settings.quiet || report.problems.length > 0)
    printText(io, formatVerified(report, rootHash !== undefined));
}
