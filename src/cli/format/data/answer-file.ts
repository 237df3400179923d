/** Writes the rows of a query to a file, in any format. */
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import type { CsvProfile } from "../../../../exports/formats/csv.ts";
import { inferColumns } from "../../../../exports/formats/fitted-types.ts";
import { parquetChunks } from "../../../../exports/formats/parquet.ts";
import { writeSqliteFile } from "../../../../exports/formats/sqlite.ts";
import type { Row } from "../../../../exports/formats/table.ts";
import { publish, temporaryNameOf, writeTemporary } from "../../../platform/atomic-file.ts";
import { isSystemError } from "../../../platform/errors.ts";
import { removeFile } from "../../../platform/folders.ts";
import type { QueryResult } from "../../../query/sql/run-query.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { streamWriter } from "../../terminal/io.ts";
import { distinct, type FileFormat, printResult, type ResultFormat } from "./result.ts";

export interface AnswerFile {
  /** An existing regular file is replaced. */
  readonly path: string;
  readonly format: FileFormat;
  readonly csv: CsvProfile;
  /** Makes it readable by its owner only; else the modes that the umask allows. */
  readonly isPrivate: boolean;
}

/**
 * The file is whole or as it was before. Parquet and SQLite files need all rows in memory, since the types of their
 * columns depend on them; the table of an SQLite file is called `answer`.
 * @returns the number of rows
 * @throws CliError if the file cannot be written; the errors of the query
 */
export async function writeAnswer(result: QueryResult, file: AnswerFile): Promise<number> {
  const path = resolve(file.path);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile())
    throw new CliError("usage", `${file.path} is not a regular file.`, "Give another name with --out.");
  try {
    return file.format === "parquet" || file.format === "sqlite"
      ? await writeTyped(result, path, file)
      : await writeText(result, path, file.format, file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CliError(
      "failed",
      `Cannot write ${file.path}: ${error.message}`,
      "Check the folder, its permissions and free space.",
      { cause: error },
    );
  }
}

const modeOf = ({ isPrivate }: AnswerFile) => (isPrivate ? undefined : 0o666);

async function writeText(
  { columns, rows, batches }: QueryResult,
  path: string,
  format: ResultFormat,
  file: AnswerFile,
): Promise<number> {
  const text = new PassThrough();
  const count = { rows: 0 };
  const counted = {
    columns,
    rows: countEach(rows, () => count.rows++),
    batches: countEach(batches, (batch) => {
      count.rows += batch.length;
    }),
  };
  const print = async () => {
    try {
      await printResult(counted, format, file.csv, streamWriter(text));
      text.end();
    } catch (error) {
      text.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  };
  const [written, printed] = await Promise.allSettled([
    writeTemporary(path, text, undefined, modeOf(file)),
    print(),
  ]);
  if (printed.status === "rejected") throw printed.reason;
  if (written.status === "rejected") throw written.reason;
  written.value.commit();
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
  for await (const row of result.rows) rows.push(row);
  const names = distinct(result.columns);
  const table = { name: "answer", columns: names, rows: () => rows };
  const columns = inferColumns(names, rows);
  if (file.format === "parquet") {
    (await writeTemporary(path, parquetChunks(table, columns), undefined, modeOf(file))).commit();
    return rows.length;
  }
  const temporary = temporaryNameOf(path);
  removeFile(temporary);
  try {
    writeSqliteFile(temporary, [{ table, columns }], [], { mode: modeOf(file) });
    publish(temporary, path);
  } catch (error) {
    removeFile(temporary);
    throw error;
  }
  return rows.length;
}
