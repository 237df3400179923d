/** `armoire page`: all that an account has as one HTML file to keep. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { lacksChanges, readNewestBackup } from "../../../accounts/newest-backup.ts";
import { readCoverage } from "../../../mirror/runs/coverage.ts";
import { writeOutput } from "../../../platform/atomic-file.ts";
import { toFileError } from "../../../platform/errors.ts";
import { requireReplaceable } from "../../../platform/files/replaceable-files.ts";
import { formatBytes, formatCount } from "../../../presentation/numbers.ts";
import { readWardrobe } from "../../../query/lists/wardrobe.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { printGaps } from "../../format/data/result.ts";
import { withMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";

interface PageFlags extends AsOfFlags {
  readonly out: string;
  /** False if they are to be left out. */
  readonly pictures?: boolean;
}

export function configure(command: Command, io: Io): void {
  command
    .requiredOption("--out <file>", "the file to write; an earlier file is replaced")
    .option("--no-pictures", "leave the pictures out")
    .addOption(asOfOption());
  addHelp(command, {
    details: [
      "Writes the bras of an account with their pictures, sizes and dimensions, the measurements with charts, and what is gone " +
        "at the service, as one HTML file. Any browser opens it without a network. It contains no script. Only you can read it.",
      "The page is for reading: `armoire backup` keeps the data itself. `armoire serve --account NAME` shows the same live.",
    ],
    examples: [
      "armoire page --account ada --out ada.html",
      "armoire page --account ada --as-of 2026-01-01 --out ada-at-new-year.html",
    ],
    exitCodes: [...exitCodesOfReading, "interrupted", "terminated"],
  });
  command.action(async (flags: PageFlags) => {
    const settings = readSettings(command, io);
    const { account } = settings;
    if (account === null)
      throw new CliError(
        "usage",
        "A page shows an account.",
        "Give --account NAME; `armoire account list` lists them.",
      );
    const signal = interruptSignal(io, "the file was not written");
    const path = resolve(flags.out);
    const newestBackup = readNewestBackup(account);
    const { wardrobe, coverage, file, baseUrl, isBackupOld } = withMirror(
      settings,
      (mirror) => ({
        ...{
          wardrobe: readWardrobe(mirror),
          coverage: readCoverage(mirror),
          file: mirror.file,
          baseUrl: mirror.identity.baseUrl,
        },
        isBackupOld: lacksChanges(newestBackup, mirror),
      }),
      readAsOf(flags, settings, io),
    );
    // Its libraries take a tenth of a second to load.
    const { renderKeptPage } = await import("../../../web/kept-page.ts");
    const { text, pictures } = await renderKeptPage({
      ...{ wardrobe, coverage, baseUrl, mirrorFile: flags.pictures === false ? null : file, now: Date.now() },
      account: { name: account.name, newestBackup, isBackupOld },
    });
    const content = Buffer.from(text);
    try {
      requireReplaceable(path);
      await writeOutput(path, [content], { signal, isPrivate: true });
    } catch (error) {
      throw toFileError(error, flags.out);
    }
    printGaps(coverage, settings, io);
    const counts = { bras: wardrobe.bras.length, measurements: wardrobe.measurements.rows.length, pictures };
    if (settings.json) io.out(toJsonLine({ file: path, bytes: content.length, ...counts }));
    else if (!settings.quiet)
      printText(
        io,
        `Written to ${flags.out}: ${formatCount(counts.bras, "bra")}, ${formatCount(counts.measurements, "measurement")}, ` +
          `${formatCount(pictures, "picture")}, ${formatBytes(content.length)}\n`,
      );
  });
}
