/** The README of a package: what it is, how whole it is, and how to load it. */
import { meaningOf } from "../../../schema/dictionary/columns.ts";
import { describeExportCoverage } from "../../../src/mirror/runs/describe-coverage.ts";
import { utcMinute } from "../../../src/presentation/times.ts";
import type { Compression } from "../../formats/compression.ts";
import type { EmptyTable, ExportedState, PackageContents, PackageFile, Publication } from "../descriptor.ts";

export function readMe(
  { toolVersion, state, coverage, csv, files, emptyTables }: PackageContents,
  publication: Publication,
): string {
  const host = new URL(state.baseUrl).host;
  const ended = state.endedAt === null ? "" : `, which ended ${utcMinute(state.endedAt)}`;
  const asOf = `as of ${state.run === null ? "the first sync" : `run ${state.run}`}${ended}`;
  const has = (name: string) => files.some(({ format }) => format === name);
  const hasCsv = has("csv");
  const rows = files.map(
    ({ path, format, table, rows }) =>
      `| \`${path}\`${format === "sqlite" ? `, \`${table}\`` : ""} | ${rows} | ${meaningOf(table)?.about ?? ""} |`,
  );
  const parts = [
    `# Mirror of ${host}`,
    `The data of ${state.baseUrl}, ${asOf}. Made by Armoire ${toolVersion}.`,
    ...describeSelection(state),
    ...(coverage ? [describeExportCoverage(coverage)] : []),
    `| file | rows | |\n| --- | ---: | --- |\n${rows.join("\n")}`,
    ...(emptyTables ? [`Without rows, and so without a file: ${listOf(emptyTables)}.`] : []),
    "`datapackage.json` describes each column: its type, its meaning, keys, and references to other tables. " +
      "It is a [Data Package](https://datapackage.org), version 2. It also has the size and the SHA-256 of each file.",
    ...(files.some(({ columns }) => columns.includes("gone_at"))
      ? ["Rows of resources that are gone stay, with their last values and the time in `gone_at`."]
      : []),
    `## Types\n\n${types}`,
    ...(hasCsv
      ? [
          `## Load it\n\n${howToLoad(files.find(({ format }) => format === "csv"))}`,
          `## CSV\n\n${describeCsv(csv)}`,
        ]
      : []),
    ...(has("parquet") ? [`## Parquet\n\n${aboutParquet(hasCsv)}`] : []),
    ...(has("sqlite") ? [`## SQLite\n\n${aboutSqlite}`] : []),
    `## Licence\n\n${publication.license ?? `None is stated. Check the terms of ${host} before you share the data.`}`,
    `## Cite as\n\n${publication.citation ?? `Data of ${state.baseUrl}, ${asOf}. Exported with Armoire ${toolVersion}.`}`,
  ];
  return `${parts.join("\n\n")}\n`;
}

function describeSelection({ brands, changedAfterRun, where, columns }: ExportedState): string[] {
  return [
    ...(brands ? [`Only rows of these brands, and of their models and sizes: ${brands.join(", ")}.`] : []),
    ...(changedAfterRun === undefined ? [] : [`Only rows that changed after run ${changedAfterRun}.`]),
    ...(where === undefined ? [] : [`Only rows that meet this condition:\n\n${codeBlock(where)}`]),
    ...(columns ? [`Only these columns: ${columns.join(", ")}.`] : []),
  ];
}

/** Indented, since text may hold any number of backticks. */
const codeBlock = (text: string) => text.replace(/^/gm, "    ");

const listOf = (tables: readonly EmptyTable[]) => tables.map(({ name }) => `\`${name}\``).join(", ");

const needs: Readonly<Record<Compression, string>> = {
  gzip: "Decompress the files (`gunzip -k *.gz`) for Excel and LibreOffice.",
  zstd: "pandas needs the package `zstandard`, and R the program `zstd`, since it cannot read Zstandard itself. Decompress the files (`zstd -d *.zst`) for Excel and LibreOffice.",
};

const howToLoad = (csv: PackageFile | undefined) =>
  `The scripts read the CSV files of this folder with the right types: \`012\` stays text, and a name \`null\` stays a name. They fail if a table has another number of rows than stated here. In DuckDB, times are \`TIMESTAMP WITH TIME ZONE\`, shown in the zone of the session.

- DuckDB, in this folder: \`duckdb bras.duckdb < load.sql\`
- Python with pandas: \`from load import load\`, then \`load("${csv?.table}")\`
- R: \`source("load.R")\`, or with the path of another folder; then \`load_table("${csv?.table}")\`
- Excel and LibreOffice open the CSV files: UTF-8, separated by commas. Import the columns as text: a file that is simply opened loses zeros at the start of codes, and \`1E5\` becomes a number.${csv?.compression ? `\n\nThe files are compressed. ${needs[csv.compression]}` : ""}`;

const types = `| type | CSV, SQLite | JSON | Parquet |
| --- | --- | --- | --- |
| boolean | 1 is true, 0 is false | true, false | boolean |
| datetime | text, ISO 8601 in UTC | as in CSV | a time in UTC |
| object | JSON text | object | JSON |
| any | as the service sent it: text, a number, or JSON text | any value | text |

Other types are what their names say. \`last_modified_at\` is a string: the service states no time zone.

Text is the same in every format. NUL and lone surrogates (half a character of UTF-16), which many programs refuse, are the texts \`\\u0000\` and \`\\ud800\`. Backslashes before text that looks like one of these are doubled. Bodies of the table \`envelope\` are as sent.`;

const aboutParquet = (hasCsv: boolean) =>
  "DuckDB, pandas, Arrow and R read the files with their types. A column with a " +
  "number that a double would change is text." +
  (hasCsv ? "" : " The files have no keys: `duckdb bras.duckdb < load.sql`, run in this folder, adds them.");

const aboutSqlite =
  "`tables.sqlite` holds the same tables, with keys, references, indexes and full-text indexes of the first 10,000 characters of names (tables that end in `_fts`). " +
  "The table `coverage` says how whole they are. Datasette shows it as it is: `datasette tables.sqlite`.";

function describeCsv(profile: PackageContents["csv"]): string {
  const nulls = 'An empty field is null, and `""` is empty text; pandas and R make both NA.';
  if (profile === "exact")
    return `${nulls} Text is as the service sent it, also text that a spreadsheet runs as a formula.`;
  return `${nulls} Text that begins with \`=\`, \`+\`, \`-\`, \`@\` (also in full width), a tab, a line break, a byte order mark or an apostrophe has one apostrophe more at its start, so that no spreadsheet runs it as a formula. The scripts remove it; another reader removes one apostrophe at the start of each text, or reads an export made with \`--exact\`.`;
}
