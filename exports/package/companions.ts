/**
 * The files beside the tables of a package: a README, and a script each for DuckDB, pandas and R, which load the CSV files with
 * the types and keys of the columns. In: the contents of a package. Out: texts, the same for the same state.
 */
import {
  type ColumnType,
  describeColumn,
  keyAmong,
  publicTables,
} from "../../schema/dictionary/public-tables.ts";
import { describeCoverage } from "../../src/mirror/runs/coverage.ts";
import { quoted } from "../formats/sqlite.ts";
import type {
  CompanionName,
  EmptyTable,
  ExportedState,
  PackageContents,
  PackageFile,
  Publication,
} from "./descriptor.ts";
import type { Reference } from "./table-schema.ts";

export interface Companion {
  readonly path: CompanionName;
  readonly text: string;
}

export function companionsOf(
  contents: PackageContents,
  references: readonly Reference[],
  publication: Publication,
): Companion[] {
  const files = contents.files.filter(
    ({ format, table, columns }) =>
      format === "csv" && columns.every((column) => describeColumn(table, column) !== null),
  );
  const csv = { ...contents, files };
  const scripts: readonly Companion[] = [
    { path: "load.sql", text: loadSql(csv, references) },
    { path: "load.py", text: loadPython(csv) },
    { path: "load.R", text: loadR(csv) },
  ];
  const readme: Companion = { path: "README.md", text: readMe(contents, publication) };
  return files.length === 0 ? [readme] : [readme, ...scripts];
}

const typeOf = ({ table, mixedColumns = [] }: PackageFile, column: string): ColumnType =>
  mixedColumns.includes(column) ? "text" : (describeColumn(table, column)?.type ?? "any");

function readMe(
  { toolVersion, state, coverage, csv, files, emptyTables }: PackageContents,
  publication: Publication,
): string {
  const host = new URL(state.baseUrl).host;
  const ended =
    state.endedAt === null ? "" : `, which ended ${state.endedAt.slice(0, 16).replace("T", " ")} UTC`;
  const has = (name: string) => files.some(({ format }) => format === name);
  const hasCsv = has("csv");
  const rows = files.map(
    ({ path, format, table, rows }) =>
      `| \`${path}\`${format === "sqlite" ? `, \`${table}\`` : ""} | ${rows} | ${publicTables[table]?.about ?? ""} |`,
  );
  const parts = [
    `# Mirror of ${host}`,
    `The data of ${state.baseUrl}, as of ${state.run === null ? "the first sync" : `run ${state.run}`}${ended}. Made by Armoire ${toolVersion}.`,
    ...describeSelection(state),
    ...(coverage ? [describeCoverage(coverage)] : []),
    `| file | rows | |\n| --- | ---: | --- |\n${rows.join("\n")}`,
    ...(emptyTables ? [`Without rows, and so without a file: ${listOf(emptyTables)}.`] : []),
    "`datapackage.json` describes each column: its type, its meaning, keys, and references to other tables. " +
      "It is a [Data Package](https://datapackage.org), version 2. It also has the size and the SHA-256 of each file.",
    ...(files.some(({ columns }) => columns.includes("gone_at"))
      ? ["Rows of resources that are gone stay, with their last values and the time in `gone_at`."]
      : []),
    ...(hasCsv
      ? [
          `## Load it\n\n${howToLoad(files.find(({ format }) => format === "csv")?.table ?? "")}`,
          `## CSV\n\n${describeCsv(csv)}`,
        ]
      : []),
    ...(has("parquet") ? [`## Parquet\n\n${aboutParquet}`] : []),
    ...(has("sqlite") ? [`## SQLite\n\n${aboutSqlite}`] : []),
    ...(publication.license === undefined ? [] : [`## Licence\n\n${publication.license}`]),
    ...(publication.citation === undefined ? [] : [`## Cite as\n\n${publication.citation}`]),
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

const howToLoad = (
  table: string,
) => `The scripts read the CSV files of this folder with the right types: \`012\` stays text, and a name \`null\` stays a name.

- DuckDB: \`duckdb bras.duckdb < load.sql\`
- Python with pandas: \`from load import load\`, then \`load("${table}")\`
- R: \`source("load.R")\`, then \`load_table("${table}")\`
- Excel and LibreOffice open the CSV files: UTF-8, separated by commas.`;

const aboutParquet =
  "DuckDB, pandas, Arrow and R read the files with their types: times in UTC, booleans, objects as JSON. A column with a " +
  "number that a double would change is text. NUL and lone surrogates are escaped, as in `\\u0000`.";

const aboutSqlite =
  "`tables.sqlite` holds all tables, with keys, references, indexes and full-text indexes of names (tables that end in `_fts`). " +
  "Datasette shows it as it is: `datasette tables.sqlite`. True is 1, false is 0, and objects are JSON text.";

function describeCsv(profile: PackageContents["csv"]): string {
  const nulls = 'An empty field is null, and `""` is empty text. True is 1, false is 0. Times are UTC.';
  if (profile === "exact")
    return `${nulls} Text is as the service sent it, also text that a spreadsheet runs as a formula.`;
  return `${nulls} Text that begins with \`=\`, \`+\`, \`-\`, \`@\`, a tab, a line break or an apostrophe has one apostrophe more at its start, so that no spreadsheet runs it as a formula. The scripts remove it.`;
}

const sqlTypes: Readonly<Record<ColumnType, string>> = {
  text: "varchar",
  url: "varchar",
  time: "timestamp",
  integer: "bigint",
  number: "double",
  boolean: "boolean",
  object: "json",
  any: "varchar",
};

/** Types whose values may have an apostrophe at their start. */
const isText = (type: ColumnType) => type === "text" || type === "url" || type === "any";

function loadSql({ csv, files }: PackageContents, references: readonly Reference[]): string {
  const isLoaded = new Set(files.map(({ table }) => table));
  const tables = files.map((file) => {
    const { path, table, columns } = file;
    const key = keyAmong(table, columns);
    const definitions = [
      ...columns.map((column) => `  ${quoted(column)} ${sqlTypes[typeOf(file, column)]}`),
      ...(key ? [`  primary key (${key.map(quoted).join(", ")})`] : []),
      ...references
        .filter((reference) => reference.table === table && isLoaded.has(reference.to))
        .map(({ column, to }) => `  foreign key (${quoted(column)}) references ${quoted(to)} (href)`),
    ];
    const values = columns.map((column) => {
      const type = typeOf(file, column);
      const name = quoted(column);
      if (!isText(type)) return `  cast(${name} as ${sqlTypes[type]})`;
      return csv === "exact"
        ? `  ${name}`
        : `  case when ${name}[1] = '''' then ${name}[2:] else ${name} end`;
    });
    const read = columns.map((column) => `'${column}': 'varchar'`).join(", ");
    return `create table ${quoted(table)} (
${definitions.join(",\n")}
);
insert into ${quoted(table)} select
${values.join(",\n")}
from read_csv('${path}', header = true, auto_detect = false, delim = ',', quote = '"', escape = '"',
  nullstr = '', allow_quoted_nulls = false, columns = {${read}});
`;
  });
  return `-- Loads the tables of this folder into DuckDB: duckdb bras.duckdb < load.sql\n\n${tables.join("\n")}`;
}

/** The columns of each table by type, as a literal that Python and JSON share. */
function tablesLiteral(files: readonly PackageFile[]): string {
  const tables = files.map((file) => {
    const { path, table, columns } = file;
    const types = columns.map((column) => `"${column}": "${typeOf(file, column)}"`);
    return `    "${table}": ("${path}", {\n        ${types.join(",\n        ")},\n    }),`;
  });
  return tables.join("\n");
}

function loadPython({ csv, files }: PackageContents): string {
  const unguard =
    csv === "exact"
      ? ""
      : '\n        if kind in ("text", "url", "any"):\n            column = column.str.replace(r"^\'", "", regex=True)';
  return `"""Loads the tables of this folder with pandas: \`from load import load\`, then \`load("model")\`."""

import json
import pathlib

import pandas as pd

FOLDER = pathlib.Path(__file__).parent

# Table: file, and the types of its columns.
TABLES = {
${tablesLiteral(files)}
}


def load(table):
    """Returns a table as a DataFrame. Null is NA; empty text in the CSV is NA as well."""
    file, types = TABLES[table]
    frame = pd.read_csv(FOLDER / file, dtype="string", keep_default_na=False, na_values=[""], encoding="utf-8-sig")
    for name, kind in types.items():
        column = frame[name]${unguard}
        if kind == "time":
            column = pd.to_datetime(column, utc=True)
        elif kind == "integer":
            column = pd.to_numeric(column).astype("Int64")
        elif kind == "number":
            column = pd.to_numeric(column).astype("Float64")
        elif kind == "boolean":
            column = column.map({"1": True, "0": False}).astype("boolean")
        elif kind == "object":
            column = column.map(json.loads, na_action="ignore")
        frame[name] = column
    return frame


def load_all():
    """Returns all tables by name."""
    return {table: load(table) for table in TABLES}


if __name__ == "__main__":
    for name, frame in load_all().items():
        print(f"{name}: {len(frame)} rows")
        print(frame.dtypes.to_string())
`;
}

function loadR({ csv, files }: PackageContents): string {
  const tables = files.map((file) => {
    const { path, table, columns } = file;
    const types = columns.map((column) => `\`${column}\` = "${typeOf(file, column)}"`);
    return `  ${table} = list(file = "${path}", types = c(\n    ${types.join(",\n    ")}\n  ))`;
  });
  const unguard =
    csv === "exact" ? "" : '\n    if (kind %in% c("text", "url", "any")) column <- sub("^\'", "", column)';
  return `# Loads the tables of this folder: source("load.R"), then load_table("model").
# Objects stay JSON text. Integers are numbers, exact up to 2^53.

armoire_tables <- list(
${tables.join(",\n")}
)

load_table <- function(table, folder = ".") {
  description <- armoire_tables[[table]]
  frame <- read.csv(file.path(folder, description$file), colClasses = "character", na.strings = "",
                    check.names = FALSE, encoding = "UTF-8", fileEncoding = "UTF-8-BOM")
  for (name in names(description$types)) {
    kind <- description$types[[name]]
    column <- frame[[name]]${unguard}
    frame[[name]] <- switch(kind,
      integer = , number = as.numeric(column),
      boolean = column == "1",
      time = as.POSIXct(column, format = "%Y-%m-%dT%H:%M:%OSZ", tz = "UTC"),
      column
    )
  }
  frame
}
`;
}
