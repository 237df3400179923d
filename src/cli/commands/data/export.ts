/** `armoire export create|verify`: the tables of a mirror as a Data Package. `create` is the default. */
import { type Command, Option } from "commander";
import { type ExportedDatabase, exportDatabase } from "../../../../exports/export-database.ts";
import { exportMirror } from "../../../../exports/export-mirror.ts";
import { type ExportedTable, exportTable } from "../../../../exports/export-table.ts";
import { compressions } from "../../../../exports/formats/compression.ts";
import { exportFormats } from "../../../../exports/formats/table.ts";
import type { ExportedState } from "../../../../exports/package/descriptor.ts";
import {
  type PackageProblem,
  type PackageReport,
  verifyDataPackage,
} from "../../../../exports/package/verify/verify-package.ts";
import type { WrittenPackage } from "../../../../exports/package/write-package.ts";
import type { RunSelect } from "../../../../exports/row-condition.ts";
import { parsePoint, pointContext } from "../../../mirror/points/point.ts";
import { pointBefore } from "../../../mirror/points/resolve-point.ts";
import { describeExportCoverage } from "../../../mirror/runs/describe-coverage.ts";
import { formatRows } from "../../../presentation/numbers.ts";
import { formatMinute } from "../../../presentation/times.ts";
import { runQuery } from "../../../query/sql/run-query.ts";
import { type AsOfFlags, asOfOption, readAsOf, warnOfPruned } from "../../flags/as-of.ts";
import { defaultFormats, readTarget, type TargetFlags } from "../../flags/export-target.ts";
import { collect, collectNames, positiveNumber } from "../../flags/option-values.ts";
import { addCsvFlags, type CsvFlags, readCsvProfile } from "../../flags/query-flags.ts";
import { printGaps } from "../../format/data/result.ts";
import { version } from "../../self-command.ts";
import { mirrorFileToRead } from "../../settings/mirror-file.ts";
import { citationOption, licenseOption, readPublication } from "../../settings/publication.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading, exitCodesOfVerifying } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";

interface ExportFlags extends AsOfFlags, CsvFlags, TargetFlags {
  readonly column: readonly string[];
  readonly brand: readonly string[];
  readonly changedSince?: string;
  readonly withEnvelopes?: boolean;
  readonly where?: string;
  readonly timeout: number;
  readonly requireComplete?: boolean;
}

export function configure(command: Command, io: Io): void {
  const create = configureCreate(command, io);
  configureVerify(command, io);
  addHelp(command, {
    details: [
      "An export is a folder with the tables and datapackage.json, which other programs and `armoire diff` read. " +
        "In the last part of --out, {date} is the day on which the exported run ended, and {run} its number. " +
        "`armoire export create --help` says what the options mean in detail.",
    ],
    examples: [
      "armoire export --out catalogue-2026-11",
      "armoire export --out exports/catalogue-{date} --format parquet,sqlite",
      "armoire export verify catalogue-2026-11",
    ],
    exitCodes: exitCodesOfCreate,
    defaultCommand: create,
  });
}

const exitCodesOfCreate = [
  ...exitCodesOfReading,
  "rejected",
  "incomplete",
  "interrupted",
  "terminated",
] as const;

function configureCreate(command: Command, io: Io): Command {
  const create = command
    .command("create", { isDefault: true })
    .description("write the tables of a mirror, as `armoire export` alone does")
    .requiredOption(
      "--out <path>",
      "the folder to create; or one .sqlite file; or with one --table any file, such as brands.csv, or - for standard output",
    )
    .addOption(
      new Option("--format <formats>", `${exportFormats.join(", ")}, or several with commas`).default(
        undefined,
        defaultFormats,
      ),
    )
    .option("--table <names>", "only these tables: several with commas (repeatable)", collectNames, [])
    .option(
      "--column <names>",
      "only these columns, in this order, and tables that have one: several with commas (repeatable)",
      collectNames,
      [],
    )
    .option("--brand <name>", "only rows of this brand, its models and sizes (repeatable)", collect, [])
    .option("--changed-since <point>", "only rows of resources that changed after a run, or since a time")
    .option("--with-envelopes", "with a table envelope: the last response for each resource, as sent")
    .option("--where <sql>", "only rows that meet this condition, with one --table")
    .option("--timeout <seconds>", "stop --where if it takes longer", positiveNumber, 60)
    .addOption(new Option("--compress <method>", "compress CSV, JSON and NDJSON").choices(compressions))
    .addOption(licenseOption())
    .addOption(citationOption("export"))
    .option("--require-complete", "write nothing and exit with 8 unless the tables are complete")
    .addOption(asOfOption());
  addCsvFlags(create);
  addHelp(create, {
    details: [
      "The folder holds one file per table and format, and datapackage.json (a Data Package, version 2): types, meanings and " +
        "keys of the columns, row counts and SHA-256. README.md says how whole the export is; load.sql, load.py and load.R load " +
        "the CSV files into DuckDB, pandas and R with the right types; with Parquet alone, load.sql loads that. Tables without rows have no file, unless named by --table.",
      "The format sqlite is one file, tables.sqlite, with all tables that have rows, keys and indexes; brand_fts, model_fts and bra_fts are for " +
        "full-text search, and coverage says what is missing. --out all.sqlite makes that file alone. JSON and Parquet have real booleans and " +
        "objects, and Parquet has times. A Parquet column with a number that a double would change is text.",
      "With one --table, --out may be a file: its name ends in .csv, .json, .ndjson, .parquet or .sqlite, which is the format, and " +
        "text formats may be compressed, as in .csv.gz or .json.zst. A regular file is replaced, but no file of Armoire itself, such as a mirror. --out - writes csv " +
        "(or --format json or ndjson) to standard output. Neither has a datapackage.json. Any other name is a folder's. A name " +
        "with an unknown ending, such as a.xlsx, is refused unless that folder exists or the name ends in a slash.",
      "--compress makes brand.csv.gz (gzip) or brand.csv.zst (Zstandard), which load.sql, load.py and load.R read.",
      "It is written as a whole or not at all. A folder that is not an export is refused. The same state gives the same data files, without checked_at, " +
        "and if the folder holds this state already, it stays as it is. In the last part of --out, {run} is the number of the exported run " +
        "and {date} the UTC date of its end. The exported run is the last that changed something, so later runs that changed nothing make " +
        "no new folder. With {date}, a second export of a day replaces the first if something has changed.",
      "Many programs refuse NUL and lone surrogates (half a character of UTF-16), so every format has the texts \\u0000 and \\ud800 in " +
        "their place. Where the service sent such a text itself, its backslash is doubled. Bodies of the table envelope are as sent.",
      'In CSV, null is an empty field and empty text is "". Text that begins ' +
        "with =, +, -, @ (also in full width), a tab, a line break, a byte order mark or an apostrophe gets an apostrophe before it, unless --exact is given: " +
        "a reader removes one apostrophe at the start of a text.",
      "--where is what would follow WHERE in SQL, over the columns of the table. It may read other tables with a subquery, and has " +
        "the limits of `armoire query`.",
      "The table envelope has the last response for each resource: its time, status, headers, and the body as the service sent it, so " +
        "that other programs read what no table has. --table envelope exports it alone.",
      "--license and --citation can also be set in the config file, as license and citation.",
      "With --as-of, the data files are the same as those of an export made at that time, but there is no table media: pictures have no history.",
    ],
    examples: [
      "armoire export --out catalogue-2026-11",
      "armoire export --out exports/catalogue-{date} --format parquet,sqlite",
      "armoire export --out published/{date} --format csv --compress gzip",
      "armoire export --out everything --with-envelopes --format parquet",
      "armoire export --out envelopes.ndjson.gz --table envelope",
      "armoire export --out brands --table brand --format csv",
      "armoire export --out brands-{date}.csv.gz --table brand",
      "armoire export --out - --table size --format ndjson --quiet | head",
      "armoire export --out a-week-ago --as-of -7d",
      "armoire export --out sizes --brand comexim --table size --column size",
      "armoire export --out changes-{date} --changed-since -7d --format parquet",
      'armoire export --out large --table size --where "band >= 85"',
      'armoire export --out open --license CC-BY-4.0 --citation "A. Author: Bras"',
    ],
    exitCodes: exitCodesOfCreate,
  });
  create.action(async (flags: ExportFlags) => {
    const settings = readSettings(create, io);
    const target = readTarget(flags, settings);
    const asOf = readAsOf(flags, settings, io);
    const changedSince =
      flags.changedSince === undefined ? undefined : parsePoint(flags.changedSince, pointContext());
    if (changedSince !== undefined) warnOfPruned(pointBefore(changedSince), settings, io);
    const source = {
      file: mirrorFileToRead(settings),
      columns: flags.column,
      brands: flags.brand,
      ...(changedSince && { changedSince }),
      ...(flags.where !== undefined && { where: { sql: flags.where, run: runWithin(flags.timeout) } }),
      csv: readCsvProfile(flags),
      requireComplete: flags.requireComplete === true,
      signal: interruptSignal(io, "nothing was written"),
      ...(asOf && { asOf }),
    };
    const compressed =
      "compression" in target && target.compression !== null ? { compression: target.compression } : {};
    const selected = { tables: flags.table, withEnvelopes: flags.withEnvelopes === true };
    if (target.kind === "database") {
      printDatabase(await exportDatabase({ ...source, ...selected, out: target.path }), settings, io);
      return;
    }
    if (target.kind !== "folder") {
      const { table, format } = target;
      const out = target.kind === "file" ? target.path : io.out;
      printTable(await exportTable({ ...source, ...compressed, table, format, out }), settings, io);
      return;
    }
    const { path: out, formats } = target;
    const publication = readPublication(flags, settings);
    const folder = {
      ...{ out, formats, ...selected },
      ...{ publication, toolVersion: version() },
    };
    printPackage(await exportMirror({ ...source, ...compressed, ...folder }), settings, io);
  });
  return create;
}

const runWithin =
  (seconds: number): RunSelect =>
  (select) =>
    runQuery({ ...select, timeoutMillis: seconds * 1000 });

/** On standard output are the rows themselves. */
function printTable(exported: ExportedTable, settings: Settings, io: Io): void {
  printGaps(exported.coverage, settings, io);
  if (settings.json) io.out(toJsonLine(exported));
  else if (!settings.quiet && exported.file !== null)
    printText(
      io,
      `${formatRows(exported.rows)} written to ${exported.file} (${describeRun(exported.state)})\n`,
    );
}

/** A single file does not say which state it has. */
function describeRun({ run, endedAt }: ExportedState): string {
  if (run === null) return "before the first run";
  return endedAt === null ? `run ${run}` : `run ${run}, ended ${formatMinute(endedAt)}`;
}

function printDatabase(exported: ExportedDatabase, settings: Settings, io: Io): void {
  const { file, tables, coverage } = exported;
  printGaps(coverage, settings, io);
  if (settings.json) io.out(toJsonLine(exported));
  else if (!settings.quiet) {
    for (const { table, rows } of tables) printText(io, `${table}  ${formatRows(rows)}\n`);
    printText(io, `Written to ${file} (${describeRun(exported.state)})\n`);
  }
}

function printPackage(contents: WrittenPackage, settings: Settings, io: Io): void {
  printGaps(contents.coverage ?? null, settings, io);
  if (settings.json) io.out(toJsonLine(contents));
  else if (!settings.quiet) {
    for (const { path, format, table, rows } of contents.files)
      printText(io, `${format === "sqlite" ? `${path} ${table}` : path}  ${formatRows(rows)}\n`);
    const { folder, isUnchanged, coverage } = contents;
    if (coverage?.complete) printText(io, `${describeExportCoverage(coverage, formatMinute)}\n`);
    printText(io, isUnchanged ? `Unchanged: ${folder} holds this state already\n` : `Written to ${folder}\n`);
  }
}

function configureVerify(command: Command, io: Io): void {
  const verify = command
    .command("verify")
    .description("check every file of an export, without writing")
    .argument("<dir>", "the folder of the export");
  addHelp(verify, {
    details: [
      "Compares each file with its size and SHA-256 in datapackage.json. Changed, missing and added files are " +
        "problems (exit code 15). So are tables with another number of rows than stated, and in CSV, JSON and NDJSON rows that cannot " +
        "be read, keys that are not unique or not in order, and references to rows that are not there. It finds damage, but no forgery: anyone who can write the folder can write matching sums.",
    ],
    examples: ["armoire export verify catalogue-2026-11", "armoire export verify open-data --json"],
    exitCodes: exitCodesOfVerifying,
  });
  verify.action(async (folder: string) => {
    const settings = readSettings(verify, io);
    const report = await verifyDataPackage(folder);
    if (report.problems.length > 0) io.setExitCode(exitCodes.rejected);
    if (settings.json) io.out(toJsonLine(report));
    else if (!settings.quiet || report.problems.length > 0) printText(io, formatPackageReport(report));
  });
}

const problemTexts: Readonly<Record<PackageProblem["code"], string>> = {
  missing: "is missing",
  "not-a-file": "is not a file",
  "wrong-size": "has another size",
  "wrong-hash": "has other content",
  "not-listed": "is not listed in datapackage.json",
  unreadable: "is no table with the stated columns",
  "wrong-rows": "has another number of rows than datapackage.json states",
  "wrong-order": "has rows in another order than that of their keys",
  "duplicate-key": "has several rows with the same key",
  "broken-reference": "refers to rows that are not there",
};

function formatPackageReport({ contents, problems }: PackageReport): string {
  if (problems.length > 0)
    return problems.map(({ path, code }) => `${path} ${problemTexts[code]}\n`).join("");
  const { state, files, coverage } = contents;
  const tables = new Set(files.map(({ table }) => table)).size;
  const run = state.run === null ? "before the first run" : `run ${state.run}`;
  const lines = [
    `Every file is as it was exported: ${tables === 1 ? "1 table" : `${tables} tables`} of ${state.baseUrl}, ${run}`,
    ...(coverage ? [describeExportCoverage(coverage, formatMinute)] : []),
  ];
  return `${lines.join("\n")}\n`;
}
