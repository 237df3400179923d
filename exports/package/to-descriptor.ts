/** Makes the text of `datapackage.json` from what was exported and the dictionary of tables. */
import { meaningOf } from "../../schema/dictionary/columns.ts";
import { compressedEndings } from "../formats/compression.ts";
import type { CsvProfile } from "../formats/csv.ts";
import type { PackageContents, Publication } from "./descriptor.ts";
import { formatVersion, hashPrefix } from "./names.ts";
import { blankSeal, sealed } from "./seal.ts";
import { type Reference, tableSchema } from "./table-schema.ts";

const profile = (name: string) => `https://datapackage.org/profiles/2.0/${name}.json`;

/**
 * @param references those that hold for every row
 */
export function toDescriptor(
  { toolVersion, state, coverage, csv, files, emptyTables, companions }: PackageContents,
  references: readonly Reference[],
  { license, citation }: Publication,
): object {
  const host = new URL(state.baseUrl).host;
  const [{ format: firstFormat } = { format: "" }] = files;
  const nameOf = (table: string, format: string) => (format === firstFormat ? table : `${table}-${format}`);
  return {
    $schema: profile("datapackage"),
    name: `armoire-${host.replace(/[^a-z0-9.]+/g, "-")}`,
    title: `Mirror of ${host}`,
    ...(state.endedAt !== null && { created: state.endedAt }),
    ...(license !== undefined && {
      licenses: [URL.canParse(license) ? { path: license } : { name: license }],
    }),
    ...(citation !== undefined && { citation }),
    sources: [{ title: host, path: state.baseUrl }],
    armoire: {
      formatVersion,
      descriptorHash: blankSeal,
      toolVersion,
      ...state,
      csv,
      ...(coverage && { coverage }),
      ...(emptyTables && { emptyTables }),
      companions: companions.map(({ path, bytes, sha256 }) => ({ path, bytes, hash: hashPrefix + sha256 })),
    },
    resources: files.map(
      ({ path, table, format, rows, columns, mixedColumns = [], bytes, sha256, ...file }) => ({
        name: nameOf(table, format),
        path,
        type: "table",
        ...(meaningOf(table) && { description: meaningOf(table)?.about }),
        ...formats[format]?.(csv, table),
        ...(file.compression && {
          compression: compressedEndings[file.compression].slice(1),
          decompressedBytes: file.decompressedBytes,
        }),
        bytes,
        hash: hashPrefix + sha256,
        table,
        rows,
        schema: {
          $schema: profile("tableschema"),
          ...tableSchema({ table, columns, mixedColumns, format }, (to) => nameOf(to, format), references),
        },
      }),
    ),
  };
}

/** The properties of a resource in each format. */
const formats: Readonly<Record<string, (csv: CsvProfile, table: string) => object>> = {
  csv: (csv) => ({
    format: "csv",
    mediatype: "text/csv",
    encoding: "utf-8",
    dialect: {
      $schema: profile("tabledialect"),
      delimiter: ",",
      lineTerminator: csv === "excel" ? "\r\n" : "\n",
      quoteChar: '"',
      doubleQuote: true,
      header: true,
    },
  }),
  json: () => ({ format: "json", mediatype: "application/json", encoding: "utf-8" }),
  ndjson: () => ({ format: "ndjson", mediatype: "application/x-ndjson", encoding: "utf-8" }),
  parquet: () => ({ format: "parquet", mediatype: "application/vnd.apache.parquet" }),
  sqlite: (_, table) => ({
    format: "sqlite",
    mediatype: "application/vnd.sqlite3",
    dialect: { $schema: profile("tabledialect"), table },
  }),
};

/** @param contents from `toDescriptor` */
export const descriptorText = (contents: object): string => sealed(`${JSON.stringify(contents, null, 2)}\n`);
