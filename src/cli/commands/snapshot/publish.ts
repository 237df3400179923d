/** `armoire snapshot publish`: a folder of snapshots for any static server, updated with what has changed. */
import type { Command } from "commander";
import { defaultKeep, defaultMaxIncrements, publishSnapshot } from "../../../archive/published/publish.ts";
import { readSigningKey } from "../../../archive/signatures/signing-key.ts";
import { systemClock } from "../../../platform/clock.ts";
import { positiveNumber, wholeNumber } from "../../flags/option-values.ts";
import { printGaps } from "../../format/data/result.ts";
import { formatPublished } from "../../format/operations/snapshot.ts";
import { mirrorFileToRead } from "../../settings/mirror-file.ts";
import { citationOption, licenseOption, type PublicationFlags } from "../../settings/publication.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";
import { requirePublication } from "./create.ts";

interface PublishFlags extends PublicationFlags {
  readonly to: string;
  readonly sign?: string;
  readonly succeeds?: string;
  readonly increments: number;
  readonly keep: number;
}

export function configurePublish(snapshot: Command, io: Io): void {
  const publish = snapshot
    .command("publish")
    .description("write a catalogue's mirror into a folder for any web server, or what has changed since")
    .requiredOption("--to <dir>", "a folder, for nothing else")
    .addOption(licenseOption())
    .addOption(citationOption("snapshots"))
    .option("--sign <file>", "sign with this private key, from now on")
    .option("--succeeds <file>", "the private key so far; it signs that --sign follows it")
    .option(
      "--increments <n>",
      "at most N increments after a whole snapshot",
      wholeNumber,
      defaultMaxIncrements,
    )
    .option(
      "--keep <n>",
      "keep the newest N whole snapshots and their increments",
      positiveNumber,
      defaultKeep,
    )
    .action((flags: PublishFlags, publish: Command) => publishOne(flags, publish, io));
  addHelp(publish, {
    details: [
      "The first snapshot in the folder is whole. Later ones are increments: they contain what has changed, and if nothing has, " +
        "none is written. After --increments of them, or when they are larger than the whole snapshot, the next one is whole. " +
        "Files are numbered and dated, such as catalogue-000012-2026-11-03.zip. state.json lists them in order, with their root " +
        "hashes and signatures; it is written last, so that readers never see a part. After a crash, run the same command again.",
      "`armoire snapshot load` takes the folder or its address, and loads what is new. Once a folder is signed, the same key is " +
        "required. To change it, give the new key with --sign and the old one with --succeeds, once: followers that trust the old " +
        "key trust the new one from then on.",
      "Others can read all files in the folder. It is refused if it or a folder in it contains a private key in PEM, a mirror or the " +
        "data directory, or a link that leads out of it.",
      "A licence is required: check first what the service's terms allow. What is in a snapshot is explained by `armoire snapshot " +
        "create --help`.",
    ],
    examples: [
      "armoire snapshot publish --to public --license ODbL-1.0",
      "armoire snapshot publish --to public --license ODbL-1.0 --sign publisher.pem",
      "armoire snapshot publish --to public --license ODbL-1.0 --sign new.pem --succeeds publisher.pem",
      'armoire schedule add publish --cron "0 8 * * *" -- snapshot publish --to public --license ODbL-1.0',
    ],
    exitCodes: [...exitCodesOfReading, "rejected", "locked", "interrupted", "terminated"],
  });
}

async function publishOne(flags: PublishFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { to, sign, succeeds, increments, keep } = flags;
  if (succeeds !== undefined && sign === undefined)
    throw new CliError("usage", "--succeeds names the key so far.", "Give the new one with --sign.");
  const publication = requirePublication(flags, settings);
  const report = await publishSnapshot({
    ...publication,
    ...{ mirror: mirrorFileToRead(settings), folder: to, maxIncrements: increments, keep },
    now: systemClock.now,
    dataDir: settings.dataDir.value,
    ...(sign !== undefined && { signingKey: readSigningKey(sign) }),
    ...(succeeds !== undefined && { predecessor: readSigningKey(succeeds) }),
    signal: interruptSignal(io, "nothing was published"),
  });
  printGaps(report.mirrorCoverage, settings, io);
  if (settings.json) io.out(toJsonLine(report));
  else if (!settings.quiet) printText(io, formatPublished(report));
}
