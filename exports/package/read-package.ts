/** Reads an export back: the tables of a data package, row by row, exactly as they were written. */
import { join } from "node:path";
import { columnTypes } from "../../schema/dictionary/columns.ts";
import { ExportError } from "../errors.ts";
import { type CsvProfile, readCsvRows } from "../formats/csv.ts";
import { readJsonRows } from "../formats/json.ts";
import type { ExportTable } from "../formats/table.ts";
import type { PackageContents, PackageFile } from "./descriptor.ts";
import { type Lines, openLines } from "./lines.ts";
import { verifyDataPackage } from "./verify/verify-package.ts";

export interface ReadTable extends ExportTable {
  /** False for CSV, in which every cell is text or null. */
  readonly isTyped: boolean;
}

export interface ReadPackage {
  readonly contents: PackageContents;
  readonly tables: readonly ReadTable[];
  close(): void;
}

type Reader = (lines: Lines, file: PackageFile, csv: CsvProfile) => ReadTable["rows"];

/** One row a line, with or without a comma at its end. */
const readJsonLines: Reader =
  ({ read }, { table, columns }) =>
  () =>
    readJsonRows(read(), columns, columnTypes(table, columns));

/** The most exact format first. */
const readersByFormat: Readonly<Record<string, Reader>> = {
  json: readJsonLines,
  ndjson: readJsonLines,
  csv:
    ({ read }, { table, columns }, profile) =>
    () =>
      readCsvRows(read(), profile, columnTypes(table, columns)),
};

/**
 * Opens a data package after `verifyDataPackage` found no problem in it but other files. A table in several formats is read from JSON if
 * present, else from NDJSON, else from CSV. Compressed tables are decompressed into temporary files, until `close`.
 * @throws ExportError, also `damaged-package` for a file that differs from the descriptor; a system error
 */
export async function readDataPackage(folder: string): Promise<ReadPackage> {
  const { contents, problems } = await verifyDataPackage(folder);
  const [problem] = problems.filter(({ code }) => code !== "not-listed");
  if (problem !== undefined)
    throw new ExportError(
      "damaged-package",
      `${join(folder, problem.path)} differs from the exported file (${problem.code}).`,
      "Export again, or restore the folder from a copy.",
    );
  const tables = new Map<string, ReadTable>();
  const opened: Lines[] = [];
  const close = () => {
    for (const lines of opened) lines.close();
  };
  try {
    for (const [format, reader] of Object.entries(readersByFormat)) {
      for (const file of contents.files.filter((file) => file.format === format && !tables.has(file.table))) {
        const lines = await openLines(join(folder, file.path), file);
        opened.push(lines);
        const rows = reader(lines, file, contents.csv);
        tables.set(file.table, { name: file.table, columns: file.columns, isTyped: format !== "csv", rows });
      }
    }
  } catch (error) {
    close();
    throw error;
  }
  for (const { name, columns } of contents.emptyTables ?? [])
    tables.set(name, { name, columns, isTyped: true, rows: () => [] });
  return { contents, tables: [...tables.values()], close };
}
