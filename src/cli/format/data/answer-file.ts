/** Writes the rows of a query to a file, in any format. */
import { closeSync, lstatSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { ExportError } from "../../../../exports/errors.ts";
import type { CsvProfile } from "../../../../exports/formats/csv.ts";
import { inferColumns } from "../../../../exports/formats/fitted-types.ts";
import { parquetChunks } from "../../../../exports/formats/parquet.ts";
import { writeSqliteFile } from "../../../../exports/formats/sqlite.ts";
import type { Row } from "../../../../exports/formats/table.ts";
import { chooseTemporary, fileMode, publish, writeTemporary } from "../../../platform/atomic-file.ts";
import { isSystemError } from "../../../platform/errors.ts";
import { removeFile } from "../../../platform/folders.ts";
import type { QueryResult } from "../../../query/sql/run-query.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { distinct, type FileFormat, type ResultFormat, resultChunks } from "./result.ts";

export interface AnswerFile {
  /** An existing regular file is replaced, unless it is a mirror or a ledger. */
  readonly path: string;
  readonly format: FileFormat;
  readonly csv: CsvProfile;
  /** Makes it readable by its owner only; else the modes that the umask allows. */
  readonly isPrivate: boolean;
  readonly signal?: AbortSignal;
}

/**
 * The file is whole or as it was before. Parquet and SQLite files need all rows in memory, since the types of their
 * columns depend on them; the table of an SQLite file is called `answer`.
 * @returns the number of rows
 * @throws CliError if the file cannot be written; the errors of the query; the signal's reason
 */
export async function writeAnswer(result: QueryResult, file: AnswerFile): Promise<number> {
  const path = resolve(file.path);
  try {
    requireReplaceable(path);
    return file.format === "parquet" || file.format === "sqlite"
      ? await writeTyped(result, path, file)
      : await writeText(result, path, file.format, file);
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof ExportError)) throw error;
    throw new CliError(
      "failed",
      `Cannot write ${file.path}: ${error.message}`,
      "Check the folder, its permissions and free space.",
      { cause: error },
    );
  }
}

/** @throws CliError, or a system error */
function requireReplaceable(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isFile())
    throw new CliError("usage", `${path} is not a regular file.`, "Give another name with --out.");
  if (hasApplicationId(path))
    throw new CliError(
      "usage",
      `${path} is a database of a program, such as a mirror.`,
      "It was not replaced. Give another name with --out.",
    );
}

/** The header of an SQLite file has it at byte 68; answers have none. */
function hasApplicationId(path: string): boolean {
  const handle = openSync(path, "r");
  try {
    const header = Buffer.alloc(72);
    const isSqlite =
      readSync(handle, header) === header.length && header.toString("latin1", 0, 15) === "SQLite format 3";
    return isSqlite && header.readUInt32BE(68) !== 0;
  } finally {
    closeSync(handle);
  }
}

async function writeText(
  result: QueryResult,
  path: string,
  format: ResultFormat,
  file: AnswerFile,
): Promise<number> {
  const count = { rows: 0 };
  const counted = {
    columns: result.columns,
    rows: countEach(result.rows, () => count.rows++),
    batches: countEach(result.batches, (batch) => {
      count.rows += batch.length;
    }),
  };
  async function* bytes() {
    for await (const text of resultChunks(counted, format, file.csv)) yield Buffer.from(text);
  }
  (await writeTemporary(path, bytes(), file.signal, fileMode(file.isPrivate))).commit();
  return count.rows;
}

async function* countEach<Item>(items: AsyncIterable<Item>, count: (item: Item) => void) {
  for await (const item of items) {
    count(item);
    yield item;
  }
}

async function writeTyped(result: QueryResult, path: string, file: AnswerFile): Promise<number> {
  const rows: Row[] = [];
  for await (const row of result.rows) {
    file.signal?.throwIfAborted();
    rows.push(row.map(withWholeNumbers));
  }
  // SQLite does not distinguish `a` from `A`, and a NUL ends a name.
  const names = distinct(
    result.columns.map((name) => name.replaceAll("\0", "")),
    (name) => name.toLowerCase(),
  );
  const table = { name: "answer", columns: names, rows: () => rows };
  const columns = inferColumns(names, rows);
  if (file.format === "parquet") {
    (
      await writeTemporary(path, parquetChunks(table, columns), file.signal, fileMode(file.isPrivate))
    ).commit();
    return rows.length;
  }
  const temporary = await chooseTemporary(path);
  try {
    await writeSqliteFile(temporary, [{ table, columns }], [], {
      signal: file.signal,
      mode: fileMode(file.isPrivate),
    });
    publish(temporary, path);
  } catch (error) {
    removeFile(temporary);
    throw error;
  }
  return rows.length;
}

/** A query returns a small integer as a number, which SQLite would store as a real. */
const withWholeNumbers = (cell: Row[number]) =>
  typeof cell === "number" && Number.isSafeInteger(cell) && !Object.is(cell, -0) ? BigInt(cell) : cell;
