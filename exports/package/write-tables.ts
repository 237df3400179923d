/** Writes the tables of an export in each format. In: tables and a folder. Out: the files, with their rows, bytes and SHA-256. */
import { join } from "node:path";
import { columnTypes } from "../../schema/dictionary/columns.ts";
import type { Coverage } from "../../src/mirror/runs/coverage.ts";
import { fileMode } from "../../src/platform/atomic-file.ts";
import {
  type Flush,
  flushFile,
  hashFile,
  type WriteOptions,
  writeHashedFile,
} from "../../src/platform/files/long-files.ts";
import { removeFile } from "../../src/platform/folders.ts";
import { withCoverage } from "../coverage-table.ts";
import { ExportError } from "../errors.ts";
import { type Compression, compress, compressedEndings, toBytes } from "../formats/compression.ts";
import { type CsvProfile, csvChunks } from "../formats/csv.ts";
import {
  type ColumnFitter,
  csvColumnFitter,
  type FittedColumn,
  writeFitted,
} from "../formats/fitted-types.ts";
import { jsonChunks, ndjsonChunks } from "../formats/json.ts";
import { writeSqliteFile } from "../formats/sqlite.ts";
import type { ExportFormat, ExportTable, TextFormat } from "../formats/table.ts";
import type { PackageFile } from "./descriptor.ts";
import { sqliteName, tableNames } from "./names.ts";
import type { Reference } from "./table-schema.ts";

export interface WriteTablesRequest {
  /** Each table gets a file in each of them. */
  readonly formats: readonly ExportFormat[];
  readonly tables: readonly ExportTable[];
  /** Columns whose values are all keys of rows in another of the tables. Default: none. */
  readonly references?: readonly Reference[];
  /** Of CSV files. Default: `guarded`. */
  readonly csv?: CsvProfile;
  /** Of CSV, JSON and NDJSON files. Default: none. */
  readonly compression?: Compression;
  /** Of the tables; Parquet and SQLite files state it. Default: they state none. */
  readonly coverage?: Coverage;
  /** Makes files and folder readable by their owner only. Default: the modes that the umask allows. */
  readonly isPrivate?: boolean;
  /** Cancels it; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/**
 * @param flush flushes the files, which are not durable on return
 * @throws ExportError `bad-table-name`; what a table's rows throw; a system error; the signal's reason
 */
export async function writeTables(
  folder: string,
  request: WriteTablesRequest,
  flush: Flush,
): Promise<PackageFile[]> {
  const { csv = "guarded", references = [], compression, coverage = null, signal } = request;
  requireFileNames(request.tables);
  const formats = new Set(request.formats);
  const tables = request.tables.map(withCount);
  const options = { signal, mode: fileMode(request.isPrivate), flush };
  const files: PackageFile[] = [];
  for (const table of tables) {
    for (const format of formats) {
      if (format === "sqlite") continue;
      if (format === "parquet") {
        files.push(await writeParquetFile(folder, table, coverage, options));
        continue;
      }
      const { chunks, columns } = contentOf(table, format, csv);
      const isCompressed = compression !== undefined;
      const path = `${table.name}.${format}${isCompressed ? compressedEndings[compression] : ""}`;
      const place = join(folder, path);
      if (isCompressed) {
        const counted = withByteCount(chunks);
        const written = await writeHashedFile(place, compress(counted.chunks, compression, signal), options);
        const decompressedBytes = counted.bytes();
        files.push({ ...fileOf({ table, columns }, path, format, written), compression, decompressedBytes });
      } else {
        const written = await writeHashedFile(place, chunks, options);
        files.push(fileOf({ table, columns }, path, format, written));
      }
    }
  }
  if (!formats.has("sqlite")) return files;
  const place = join(folder, sqliteName);
  const fitted = await writeFitted(
    tables,
    async (all) => {
      await writeSqliteFile(place, withCoverage(all, coverage), references, options);
      return all;
    },
    () => removeFile(place),
  );
  const [written] = await Promise.all([hashFile(place), flushFile(place)]);
  const columnsOf = (index: number) => fitted[index]?.columns ?? [];
  return [
    ...files,
    ...tables.map((table, index) =>
      fileOf({ table, columns: columnsOf(index) }, sqliteName, "sqlite", written),
    ),
  ];
}

async function writeParquetFile(
  folder: string,
  table: CountedTable,
  coverage: Coverage | null,
  options: WriteOptions,
): Promise<PackageFile> {
  const path = `${table.name}.parquet`;
  const place = join(folder, path);
  // Other formats are written sooner without it.
  const { parquetChunks } = await import("../formats/parquet/chunks.ts");
  return await writeFitted(
    [table] as const,
    async ([{ table: fitting, columns }]) => {
      const written = await writeHashedFile(place, parquetChunks(fitting, columns, coverage), options);
      return fileOf({ table, columns }, path, "parquet", written);
    },
    () => removeFile(place),
  );
}

function requireFileNames(tables: readonly ExportTable[]): void {
  for (const [index, { name }] of tables.entries()) {
    if (tableNames.test(name) && tables.findIndex((table) => table.name === name) === index) continue;
    throw new ExportError(
      "bad-table-name",
      `${JSON.stringify(name)} cannot be a file name.`,
      "Give each table its own name of lower-case letters and underscores, other than `datapackage`.",
    );
  }
}

interface Content {
  readonly chunks: Iterable<string>;
  /** Those of CSV have their types once it is written. Empty for formats whose cells have types of their own. */
  readonly columns: readonly FittedColumn[];
}

/** @returns the chunks of a file, and what is known of its columns once they were read */
export function contentOf(table: ExportTable, format: TextFormat, csv: CsvProfile): Content {
  if (format !== "csv") return { chunks: textChunks(table, format, csv), columns: [] };
  const fitter = csvColumnFitter(table, csv);
  return { chunks: textChunks(fittingTable(table, fitter), format, csv), columns: fitter.columns };
}

export function textChunks(table: ExportTable, format: TextFormat, csv: CsvProfile): Iterable<string> {
  const types = columnTypes(table.name, table.columns);
  if (format === "csv") return csvChunks(table, csv, { types });
  return format === "json" ? jsonChunks(table, { types }) : ndjsonChunks(table, { types });
}

function withByteCount(chunks: Iterable<string>) {
  let bytes = 0;
  function* counted(): Generator<Uint8Array> {
    for (const chunk of toBytes(chunks)) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  return { chunks: counted(), bytes: () => bytes };
}

function fittingTable(table: ExportTable, fitter: ColumnFitter): ExportTable {
  return {
    ...table,
    *rows() {
      for (const row of table.rows()) {
        fitter.add(row);
        yield row;
      }
    },
  };
}

export interface CountedTable extends ExportTable {
  /** The rows that were read last. */
  count: number;
}

export function withCount({ name, columns, rows }: ExportTable): CountedTable {
  const counted: CountedTable = {
    name,
    columns,
    count: 0,
    *rows() {
      counted.count = 0;
      for (const row of rows()) {
        counted.count++;
        yield row;
      }
    },
  };
  return counted;
}

export function fileOf(
  { table, columns }: { readonly table: CountedTable; readonly columns: readonly FittedColumn[] },
  path: string,
  format: ExportFormat,
  { bytes, sha256 }: { readonly bytes: number; readonly sha256: string },
): PackageFile {
  const mixedColumns = columns.flatMap(({ name, isMixed }) => (isMixed ? [name] : []));
  return {
    ...{ path, table: table.name, format, rows: table.count, columns: [...table.columns] },
    ...(mixedColumns.length > 0 && { mixedColumns }),
    ...{ bytes, sha256 },
  };
}
