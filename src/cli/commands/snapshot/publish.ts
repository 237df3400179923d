/** `armoire snapshot publish`: a folder of snapshots for any static server, updated with what has changed. */
import type { Command } from "commander";
import { defaultKeep, defaultMaxIncrements, publishSnapshot } from "../../../archive/published/publish.ts";
import { readSigningKey } from "../../../archive/signatures/signing-key.ts";
import { positiveNumber, wholeNumber } from "../../flags/option-values.ts";
import { formatPublished } from "../../format/operations/snapshot.ts";
import { mirrorFileToRead } from "../../settings/mirror-file.ts";
import { citationOption, licenseOption, type PublicationFlags } from "../../settings/publication.ts";
import { readSettings } from "../../settings/settings.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";
import { requirePublication } from "./create.ts";

interface PublishFlags extends PublicationFlags {
  readonly to: string;
  readonly sign?: string;
  readonly increments: number;
  readonly keep: number;
}

export function configurePublish(snapshot: Command, io: Io): void {
  const publish = snapshot
    .command("publish")
    .description("write a catalogue's mirror into a folder for any web server, or what has changed since")
    .requiredOption("--to <dir>", "an existing folder, for nothing else")
    .addOption(licenseOption())
    .addOption(citationOption("snapshots"))
    .option("--sign <file>", "sign with this private key, from now on")
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
        "required.",
      "Others can read all files in the folder. It is refused if a private key, a mirror or the data directory is in it.",
      "A licence is required: check first what the service's terms allow. What is in a snapshot is explained by `armoire snapshot " +
        "create --help`.",
    ],
    examples: [
      "armoire snapshot publish --to public --license ODbL-1.0",
      "armoire snapshot publish --to public --license ODbL-1.0 --sign publisher.pem",
      'armoire schedule add publish --cron "0 8 * * *" -- snapshot publish --to public --license ODbL-1.0',
    ],
    exitCodes: [...exitCodesOfReading, "rejected", "locked", "interrupted", "terminated"],
  });
}

async function publishOne(flags: PublishFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { to, sign, increments, keep } = flags;
  const publication = requirePublication(flags, settings);
  const report = await publishSnapshot({
    ...publication,
    ...{ mirror: mirrorFileToRead(settings), folder: to, maxIncrements: increments, keep, now: Date.now },
    dataDir: settings.dataDir.value,
    ...(sign !== undefined && { signingKey: readSigningKey(sign) }),
    signal: interruptSignal(io, "nothing was published"),
  });
  if (settings.json) io.out(toJsonLine(report));
  else if (!settings.quiet) printText(io, formatPublished(report));
}
