/** Reads an export back: the tables of a data package, row by row, exactly as they were written. */
import { closeSync, readSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { openRegularFile } from "../../src/platform/files/regular-files.ts";
import { ExportError } from "../errors.ts";
import { type CsvProfile, readCsvRows } from "../formats/csv.ts";
import { readJsonRows } from "../formats/json.ts";
import type { ExportTable } from "../formats/table.ts";
import type { PackageContents, PackageFile } from "./descriptor.ts";
import { verifyDataPackage } from "./verify-package.ts";

export interface ReadTable extends ExportTable {
  /** False for CSV, in which every cell is text or null. */
  readonly isTyped: boolean;
}

export interface ReadPackage {
  readonly contents: PackageContents;
  readonly tables: readonly ReadTable[];
}

type Reader = (path: string, file: PackageFile, csv: CsvProfile) => ReadTable["rows"];

/** One row a line, with or without a comma at its end. */
const readJsonLines: Reader =
  (path, { columns }) =>
  () =>
    readJsonRows(readLines(path), columns);

/** The most exact format first. */
const readersByFormat: Readonly<Record<string, Reader>> = {
  json: readJsonLines,
  ndjson: readJsonLines,
  csv: (path, _file, profile) => () => readCsvRows(readLines(path), profile),
};

/**
 * Opens a data package after checking every file against its descriptor. A table in several formats is read from JSON if
 * present, else from NDJSON, else from CSV.
 * @throws ExportError, also `damaged-package` for a file that differs from the descriptor; a system error
 */
export async function readDataPackage(folder: string): Promise<ReadPackage> {
  const { contents, problems } = await verifyDataPackage(folder);
  const [problem] = problems.filter(({ code }) => code !== "not-listed");
  if (problem !== undefined) {
    throw new ExportError(
      "damaged-package",
      `${join(folder, problem.path)} differs from the exported file (${problem.code}).`,
      "Export again, or restore the folder from a copy.",
    );
  }
  const tables = new Map<string, ReadTable>();
  for (const format of Object.keys(readersByFormat)) {
    for (const file of contents.files.filter((file) => file.format === format && !tables.has(file.table))) {
      const rows = readersByFormat[format]?.(join(folder, file.path), file, contents.csv);
      if (rows === undefined) continue;
      tables.set(file.table, { name: file.table, columns: file.columns, isTyped: format !== "csv", rows });
    }
  }
  for (const { name, columns } of contents.emptyTables ?? [])
    tables.set(name, { name, columns, isTyped: true, rows: () => [] });
  return { contents, tables: [...tables.values()] };
}

const chunkBytes = 1 << 16;

/** The lines of a UTF-8 file, without LF, read on demand. @throws FileError `not-a-file`; a system error */
export function* readLines(path: string): Generator<string> {
  const file = openRegularFile(path);
  try {
    const decoder = new StringDecoder("utf8");
    const chunk = Buffer.alloc(chunkBytes);
    // Only new text is searched for line ends: a line may be as long as the file.
    let open = "";
    for (;;) {
      const length = readSync(file, chunk);
      if (length === 0) break;
      const [first = "", ...lines] = decoder.write(chunk.subarray(0, length)).split("\n");
      open += first;
      if (lines.length === 0) continue;
      yield open;
      open = lines.pop() ?? "";
      yield* lines;
    }
    if (open !== "") yield open;
  } finally {
    closeSync(file);
  }
}
