/** Reading an export back: the tables of a data package, row by row, exactly as they were given to it. */
import { join } from "node:path";
import { ExportError } from "./export-error.ts";
import type { Manifest, ManifestFile } from "./manifest.ts";
import { readCsvRows } from "./read-csv.ts";
import { readJsonRows } from "./read-json.ts";
import { readLines } from "./read-lines.ts";
import type { ExportTable } from "./table.ts";
import { verifyDataPackage } from "./verify-data-package.ts";

export interface ReadTable extends ExportTable {
  /** Whether numbers are numbers: from CSV, every cell is text or null. */
  readonly isTyped: boolean;
}

export interface ReadPackage {
  readonly manifest: Manifest;
  readonly tables: readonly ReadTable[];
}

type Reader = (path: string, file: ManifestFile, raw: boolean) => ReadTable["rows"];

/** A row on a line of its own, with a comma after it or without. */
const readJsonLines: Reader =
  (path, { columns }) =>
  () =>
    readJsonRows(readLines(path), columns);

/** What keeps most comes first. */
const readersByFormat: Readonly<Record<string, Reader>> = {
  json: readJsonLines,
  ndjson: readJsonLines,
  csv: (path, _file, raw) => () => readCsvRows(readLines(path), { raw }),
};

/**
 * Opens a data package after comparing every file with its manifest. A table in several formats is read from JSON where it
 * can be, then from NDJSON, then from CSV.
 * @throws ExportError, also `damaged-package` when a file is not what the manifest says, or the system's error
 */
export async function readDataPackage(folder: string): Promise<ReadPackage> {
  const { manifest, problems } = await verifyDataPackage(folder);
  const [problem] = problems.filter(({ code }) => code !== "not-listed");
  if (problem !== undefined) {
    throw new ExportError(
      "damaged-package",
      `${join(folder, problem.path)} is not the file that was exported (${problem.code})`,
      "export again, or restore the folder as it was",
    );
  }
  const tables = new Map<string, ReadTable>();
  for (const format of Object.keys(readersByFormat)) {
    for (const file of manifest.files.filter((file) => file.format === format && !tables.has(file.table))) {
      const rows = readersByFormat[format]?.(join(folder, file.path), file, manifest.raw);
      if (rows === undefined) continue;
      tables.set(file.table, { name: file.table, columns: file.columns, isTyped: format !== "csv", rows });
    }
  }
  return { manifest, tables: [...tables.values()] };
}
