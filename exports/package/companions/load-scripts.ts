/** Scripts that load the CSV files of a package into DuckDB, pandas and R, or its Parquet files into DuckDB, with types and keys. */
import { describeColumn, keyAmong } from "../../../schema/dictionary/columns.ts";
import type { ColumnType } from "../../../schema/dictionary/table-meaning.ts";
import { quoted } from "../../formats/sqlite.ts";
import type { PackageContents, PackageFile } from "../descriptor.ts";
import type { Reference } from "../table-schema.ts";

const typeOf = ({ table, mixedColumns = [] }: PackageFile, column: string): ColumnType =>
  mixedColumns.includes(column) ? "text" : (describeColumn(table, column)?.type ?? "any");

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

/** @param files all CSV, or all Parquet */
export function loadSql({ csv, files }: PackageContents, references: readonly Reference[]): string {
  const isLoaded = new Set(files.map(({ table }) => table));
  const tables = files.map((file) => {
    const { table, columns } = file;
    const key = keyAmong(table, columns);
    const definitions = [
      ...columns.map((column) => `  ${quoted(column)} ${sqlTypeOf(file, column)}`),
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
`;
  });
  return `-- Loads the tables of this folder into DuckDB: duckdb bras.duckdb < load.sql\n\n${tables.join("\n")}`;
}

/** Times in Parquet are instants. */
function sqlTypeOf(file: PackageFile, column: string): string {
  const type = typeOf(file, column);
  return type === "time" && file.format === "parquet" ? "timestamp with time zone" : sqlTypes[type];
}

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

/** The columns of each table by type, as a literal that Python and JSON share. */
function tablesLiteral(files: readonly PackageFile[]): string {
  const tables = files.map((file) => {
    const { path, table, columns } = file;
    const types = columns.map((column) => `"${column}": "${typeOf(file, column)}"`);
    return `    "${table}": ("${path}", {\n        ${types.join(",\n        ")},\n    }),`;
  });
  return tables.join("\n");
}

export function loadPython({ csv, files }: PackageContents): string {
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

export function loadR({ csv, files }: PackageContents): string {
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
  path <- file.path(folder, description$file)
  # gzip is detected; R itself cannot read Zstandard.
  if (grepl("\\\\.zst$", path)) path <- pipe(paste("zstd -dc", shQuote(path)), encoding = "UTF-8-BOM")
  frame <- read.csv(path, colClasses = "character", na.strings = "",
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
