/** `armoire snapshot create`: one archive of a catalogue's mirror, verified after writing. */
import type { Command } from "commander";
import { requirePlace } from "../../../archive/destination.ts";
import { createSnapshot } from "../../../archive/snapshot/create.ts";
import { formatCreatedSnapshot } from "../../format/operations/snapshot.ts";
import { mirrorFileToRead } from "../../settings/mirror-file.ts";
import {
  citationOption,
  licenseOption,
  type PublicationFlags,
  readPublication,
} from "../../settings/publication.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";

interface CreateFlags extends PublicationFlags {
  readonly to: string;
  readonly replace?: boolean;
}

export function configureCreate(snapshot: Command, io: Io): void {
  const create = snapshot
    .command("create")
    .description("write a snapshot of a catalogue's mirror, offline, and verify it")
    .requiredOption("--to <place>", "a folder, or a new file that ends in .zip")
    .addOption(licenseOption())
    .addOption(citationOption("snapshot"))
    .option("--replace", "replace an existing file")
    .action((flags: CreateFlags, create: Command) => createOne(flags, create, io));
  addHelp(create, {
    details: [
      "A licence is required: check first what the service's terms allow. --license and --citation can also be set in the " +
        "config file. If --to is a folder, the file is named by the day of the last run, such as catalogue-2026-11-03.zip.",
      "Left out are resources that no list leads to, those that only the bras of an account led to (--with-catalogue), and " +
        "those that came from another snapshot and are unconfirmed. The mirror of an account is refused.",
      "Publish the printed root hash beside the file: with it others can tell the file from a forged one.",
    ],
    examples: [
      "armoire snapshot create --to catalogue.zip --license ODbL-1.0",
      'armoire snapshot create --to snapshots --license CC0-1.0 --citation "A. Author: Bras"',
    ],
    exitCodes: [...exitCodesOfReading, "rejected", "interrupted", "terminated"],
  });
}

async function createOne(flags: CreateFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { to, replace = false } = flags;
  const { license, citation } = readPublication(flags, settings);
  if (license === undefined) {
    const hint = "Check what the service's terms allow, and add --license, such as --license ODbL-1.0.";
    throw new CliError("usage", "A snapshot needs a licence.", hint);
  }
  const mirror = mirrorFileToRead(settings);
  await requirePlace({ to, replace, isEncrypted: false });
  const created = await createSnapshot({
    ...{ mirror, to, replace, license },
    ...(citation !== undefined && { citation }),
    signal: interruptSignal(io, "nothing was written"),
  });
  if (settings.json) io.out(toJsonLine(created));
  else if (!settings.quiet) printText(io, formatCreatedSnapshot(created));
}
