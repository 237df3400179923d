/** `armoire export`: the mirror's tables as files for others. */
import type { Command } from "commander";
import { type ExportFormat, exportFormats } from "../../../../exports/data-package.ts";
import { exportMirror } from "../../../../exports/export-mirror.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { collect } from "../../flags/option-values.ts";
import { version } from "../../self-command.ts";
import { mirrorFileToRead } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { type Io, interruptSignal } from "../../terminal/io.ts";

interface ExportFlags extends AsOfFlags {
  readonly out: string;
  readonly format: string;
  readonly table: readonly string[];
  readonly raw?: boolean;
}

export function configure(command: Command, io: Io): void {
  command
    .requiredOption("--out <dir>", "the folder to make; an earlier export there is replaced as a whole")
    .option("--format <formats>", "csv, json, ndjson, or several with commas", "csv,json")
    .option("--table <name>", "only this table (repeatable)", collect, [])
    .option("--raw", "in CSV, leave text that a spreadsheet would run as a formula as it is")
    .addOption(asOfOption())
    .addHelpText(
      "after",
      `
Examples:
  armoire export --out catalogue-2026-11
  armoire export --out brands --table brand --format csv
  armoire export --out a-week-ago --as-of -7d

The folder holds a file a table and manifest.json with row counts and SHA-256. The same state gives the same bytes.`,
    )
    .action(async (flags: ExportFlags) => {
      const settings = readSettings(command, io);
      const asOf = readAsOf(flags, settings, io);
      const manifest = await exportMirror({
        file: mirrorFileToRead(settings),
        out: flags.out,
        formats: flags.format.split(",").map(readFormat),
        tables: flags.table,
        raw: flags.raw ?? false,
        toolVersion: version(),
        signal: interruptSignal(io, "nothing was written"),
        ...(asOf && { asOf }),
      });
      if (settings.json) io.out(`${JSON.stringify(manifest)}\n`);
      else if (!settings.quiet) {
        for (const { path, rows } of manifest.files)
          io.out(`${path}  ${rows === 1 ? "1 row" : `${rows} rows`}\n`);
        io.out(`Written to ${flags.out}\n`);
      }
    });
}

function readFormat(name: string): ExportFormat {
  const format = exportFormats.find((known) => known === name.trim());
  if (format !== undefined) return format;
  throw new CliError(
    "usage",
    `There is no export format ${JSON.stringify(name)}.`,
    `Use ${exportFormats.join(", ")}, or several with commas.`,
  );
}
