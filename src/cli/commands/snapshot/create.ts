/** `armoire snapshot create`: one archive of a catalogue's mirror, verified after writing. */
import type { Command } from "commander";
import { requirePlace } from "../../../archive/destination.ts";
import { readSigningKey } from "../../../archive/signatures/signing-key.ts";
import { createSnapshot } from "../../../archive/snapshot/create.ts";
import type { SnapshotPublication } from "../../../archive/snapshot/entries.ts";
import { printGaps } from "../../format/data/result.ts";
import { formatCreatedSnapshot } from "../../format/operations/snapshot.ts";
import { mirrorFileToRead } from "../../settings/mirror-file.ts";
import {
  citationOption,
  licenseOption,
  type PublicationFlags,
  readPublication,
  requireLicense,
} from "../../settings/publication.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";

interface CreateFlags extends PublicationFlags {
  readonly to: string;
  readonly replace?: boolean;
  readonly sign?: string;
  readonly tables?: boolean;
}

export function configureCreate(snapshot: Command, io: Io): void {
  const create = snapshot
    .command("create")
    .description("write a snapshot of a catalogue's mirror, offline, and verify it")
    .requiredOption("--to <place>", "a folder, or a new file that ends in .zip")
    .addOption(licenseOption())
    .addOption(citationOption("snapshot"))
    .option("--tables", "add the tables as CSV with datapackage.json, for people without Armoire")
    .option("--sign <file>", "sign it with this private key, in a file beside it that ends in .zip.sig")
    .option("--replace", "replace an existing file")
    .action((flags: CreateFlags, create: Command) => createOne(flags, create, io));
  addHelp(create, {
    details: [
      "A licence is required: check first what the service's terms allow. --license and --citation can also be set in the " +
        "config file. If --to is a folder, the file is named by the day of the last run, such as catalogue-2026-11-03.zip. In a " +
        "file's name, {date} is that day.",
      "Left out are resources that no list leads to, those that only the bras of an account led to (--with-catalogue), and " +
        "those that came from another snapshot and are unconfirmed. The mirror of an account is refused.",
      "With --tables the file is larger and takes longer to make; a load never reads them. They are refused for a mirror that " +
        "syncs with --with-catalogue have filled, since they would show what an account owns.",
      "Publish the printed root hash in another place than the file: with it others can tell the file from a forged one. Or " +
        "sign with a key of `armoire snapshot key`, and publish its fingerprint.",
    ],
    examples: [
      "armoire snapshot create --to catalogue.zip --license ODbL-1.0",
      "armoire snapshot create --to catalogue-{date}.zip --license ODbL-1.0 --sign publisher.pem",
      'armoire snapshot create --to snapshots --license CC0-1.0 --citation "A. Author: Bras"',
    ],
    exitCodes: [...exitCodesOfReading, "rejected", "interrupted", "terminated"],
  });
}

async function createOne(flags: CreateFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { to, sign, replace = false, tables: withTables = false } = flags;
  const signingKey = sign === undefined ? undefined : readSigningKey(sign);
  const publication = requirePublication(flags, settings);
  const mirror = mirrorFileToRead(settings);
  await requirePlace({ to, replace, isEncrypted: false, makesFolders: true });
  const created = await createSnapshot({
    ...publication,
    ...{ mirror, to, replace, withTables },
    ...(signingKey !== undefined && { signingKey }),
    signal: interruptSignal(io, "nothing was written"),
  });
  printGaps(created.mirrorCoverage, settings, io);
  if (settings.json) io.out(toJsonLine(created));
  else if (!settings.quiet) printText(io, formatCreatedSnapshot(created));
}

/** @throws CliError without a licence */
export function requirePublication(flags: PublicationFlags, settings: Settings): SnapshotPublication {
  const { citation } = readPublication(flags, settings);
  return { license: requireLicense(flags, settings), ...(citation !== undefined && { citation }) };
}
