/**
 * Scripts that load the CSV files of a package into DuckDB, pandas and R, or its Parquet files into DuckDB, with types and keys.
 * They fail if a table has another number of rows than the package, and say if the package is not complete.
 */
import { describeColumn, keyAmong } from "../../../schema/dictionary/columns.ts";
import type { ColumnType } from "../../../schema/dictionary/table-meaning.ts";
import { describeMissing } from "../../../src/mirror/runs/describe-coverage.ts";
import { quoted } from "../../formats/sqlite.ts";
import type { PackageContents, PackageFile } from "../descriptor.ts";
import type { Reference } from "../table-schema.ts";

type LoadedType = Exclude<ColumnType, "verbatim">;

function typeOf({ table, mixedColumns = [] }: PackageFile, column: string): LoadedType {
  const type = mixedColumns.includes(column) ? "text" : (describeColumn(table, column)?.type ?? "any");
  return type === "verbatim" ? "text" : type;
}

const sqlTypes: Readonly<Record<LoadedType, string>> = {
  text: "varchar",
  url: "varchar",
  time: "timestamp with time zone",
  integer: "bigint",
  number: "double",
  boolean: "boolean",
  object: "json",
  any: "varchar",
};

/** Types whose values may have an apostrophe at their start. */
const isText = (type: LoadedType) => type === "text" || type === "url" || type === "any";

/** Times of checks are left out: the same state has the same scripts. */
const missingFrom = ({ coverage }: PackageContents): string | null =>
  coverage === undefined ? null : describeMissing(coverage);

/** @param contents files are all CSV, or all Parquet */
export function loadSql(contents: PackageContents, references: readonly Reference[]): string {
  const { csv, files } = contents;
  const isLoaded = new Set(files.map(({ table }) => table));
  const tables = files.map((file) => {
    const { table, columns } = file;
    const key = keyAmong(table, columns);
    const definitions = [
      ...columns.map((column) => `  ${quoted(column)} ${sqlTypes[typeOf(file, column)]}`),
      ...(key ? [`  primary key (${key.map(quoted).join(", ")})`] : []),
      ...references
        .filter((reference) => reference.table === table && isLoaded.has(reference.to))
        .map(({ column, to }) => `  foreign key (${quoted(column)}) references ${quoted(to)} (href)`),
    ];
    return `create table ${quoted(table)} (
${definitions.join(",\n")}
);
insert into ${quoted(table)} select
${file.format === "parquet" ? readParquet(file) : readCsv(file, csv)};
${checkRows(file)}
`;
  });
  const missing = missingFrom(contents);
  return `-- Loads the tables of this folder into DuckDB, all or none. Run it in this folder: duckdb bras.duckdb < load.sql

begin transaction;

${tables.join("\n")}
commit;
${missing === null ? "" : `\nselect ${sqlText(missing)} as coverage;\n`}`;
}

const sqlText = (text: string) => `'${text.replaceAll("'", "''")}'`;

const checkRows = ({ path, table, rows }: PackageFile): string =>
  `select case when count(*) = ${rows} then count(*)
  else error(${sqlText(`${path}: `)} || count(*) || ${sqlText(` rows were read instead of ${rows}.`)}) end as ${quoted(`rows of ${table}`)}
from ${quoted(table)};`;

const readParquet = ({ path, columns }: PackageFile): string =>
  `${columns.map((column) => `  ${quoted(column)}`).join(",\n")}\nfrom read_parquet('${path}')`;

function readCsv(file: PackageFile, profile: PackageContents["csv"]): string {
  const values = file.columns.map((column) => {
    const type = typeOf(file, column);
    const name = quoted(column);
    if (!isText(type)) return `  cast(${name} as ${sqlTypes[type]})`;
    return profile === "exact"
      ? `  ${name}`
      : `  case when ${name}[1] = '''' then ${name}[2:] else ${name} end`;
  });
  const read = file.columns.map((column) => `'${column}': 'varchar'`).join(", ");
  return `${values.join(",\n")}
from read_csv('${file.path}', header = true, auto_detect = false, delim = ',', quote = '"', escape = '"',
  nullstr = '', allow_quoted_nulls = false, columns = {${read}})`;
}

/** File, rows and columns by type of each table, in Python. */
function tablesLiteral(files: readonly PackageFile[]): string {
  const tables = files.map((file) => {
    const { path, table, rows, columns } = file;
    const types = columns.map((column) => `"${column}": "${typeOf(file, column)}"`);
    return `    "${table}": ("${path}", ${rows}, {\n        ${types.join(",\n        ")},\n    }),`;
  });
  return tables.join("\n");
}

export function loadPython(contents: PackageContents): string {
  const { csv, files } = contents;
  const missing = missingFrom(contents);
  const unguard =
    csv === "exact"
      ? ""
      : '\n        if kind in ("text", "url", "any"):\n            column = column.str.replace(r"^\'", "", regex=True)';
  const needed = files.some(({ compression }) => compression === "zstd")
    ? "\n\nThe files are compressed with Zstandard, which pandas reads with the package `zstandard`.\n"
    : "";
  return `"""Loads the tables of this folder with pandas: \`from load import load\`, then \`load("model")\`.${needed}"""

import json
import pathlib
${missing === null ? "" : "import warnings\n"}
import pandas as pd

FOLDER = pathlib.Path(__file__).parent
${missing === null ? "" : `\nwarnings.warn(${JSON.stringify(missing)})\n`}
# Table: file, rows, and the types of its columns.
TABLES = {
${tablesLiteral(files)}
}


def load(table):
    """Returns a table as a DataFrame. Null is NA; empty text in the CSV is NA as well."""
    if table not in TABLES:
        raise KeyError(f"{table}: not in this export, or without rows; README.md lists the tables")
    file, rows, types = TABLES[table]
    frame = pd.read_csv(
        FOLDER / file,
        dtype="string",
        keep_default_na=False,
        na_values=[""],
        skip_blank_lines=False,
        encoding="utf-8-sig",
    )
    if len(frame) != rows:
        raise ValueError(f"{file}: {len(frame)} rows were read instead of {rows}.")
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

export function loadR(contents: PackageContents): string {
  const { csv, files } = contents;
  const tables = files.map((file) => {
    const { path, table, rows, columns } = file;
    const types = columns.map((column) => `\`${column}\` = "${typeOf(file, column)}"`);
    return `  ${table} = list(file = "${path}", rows = ${rows}, types = c(\n    ${types.join(",\n    ")}\n  ))`;
  });
  const missing = missingFrom(contents);
  const unguard =
    csv === "exact" ? "" : '\n    if (kind %in% c("text", "url", "any")) column <- sub("^\'", "", column)';
  return `# Loads the tables of this folder: source("load.R"), then load_table("model").
# Null is NA; empty text in the CSV is NA as well. Objects stay JSON text. Integers are numbers, exact up to 2^53.

armoire_tables <- list(
${tables.join(",\n")}
)

# The folder of this file, as source() was given it; the working directory without source().
armoire_folder <- local({
  file <- unlist(lapply(sys.frames(), function(frame) frame$ofile))
  folder <- if (length(file) > 0) dirname(file[[length(file)]]) else "."
  normalizePath(if (dir.exists(folder)) folder else ".")
})
${missing === null ? "" : `\nmessage(${JSON.stringify(missing)})\n`}
load_table <- function(table, folder = armoire_folder) {
  description <- armoire_tables[[table]]
  if (is.null(description))
    stop(table, ": not in this export, or without rows; README.md lists the tables")
  path <- file.path(folder, description$file)
  # gzip is detected; R itself cannot read Zstandard.
  if (grepl("\\\\.zst$", path)) path <- pipe(paste("zstd -dc", shQuote(path)))
  # Read as bytes and marked as UTF-8: fileEncoding would convert to the locale, and lose rows where that is not UTF-8.
  frame <- withCallingHandlers(
    read.csv(path, colClasses = "character", na.strings = "", check.names = FALSE,
             encoding = "UTF-8", fileEncoding = "", blank.lines.skip = FALSE),
    warning = function(warning) stop(description$file, ": ", conditionMessage(warning))
  )
  if (nrow(frame) != description$rows)
    stop(description$file, ": ", nrow(frame), " rows were read instead of ", description$rows, ".")
  # Without a byte order mark.
  names(frame) <- names(description$types)
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
