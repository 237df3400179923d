/** Writes the rows of a query to a file, in any format. */
import { resolve } from "node:path";
import { writeTypedFile } from "../../../../exports/destination.ts";
import { ExportError } from "../../../../exports/errors.ts";
import type { CsvProfile } from "../../../../exports/formats/csv.ts";
import { inferColumns } from "../../../../exports/formats/fitted-types.ts";
import { distinctNames, type Row } from "../../../../exports/formats/table.ts";
import { type Coverage, coverageOf } from "../../../mirror/runs/coverage.ts";
import { writeOutput } from "../../../platform/atomic-file.ts";
import { FileError, isSystemError } from "../../../platform/errors.ts";
import { requireReplaceable } from "../../../platform/files/replaceable-files.ts";
import type { QueryResult } from "../../../query/sql/run-query.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { type FileFormat, type ResultFormat, resultChunks } from "./result.ts";

export interface AnswerFile {
  /** An existing regular file is replaced, unless it is one of Armoire's own. */
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
 * @throws CliError if the file cannot be written; FileError `not-replaceable`; the errors of the query; the signal's reason
 */
export async function writeAnswer(result: QueryResult, file: AnswerFile): Promise<void> {
  const path = resolve(file.path);
  try {
    requireReplaceable(path);
    if (file.format === "parquet" || file.format === "sqlite")
      await writeTyped(result, path, file.format, file);
    else await writeText(result, path, file.format, file);
  } catch (error) {
    const isRefusal = error instanceof FileError && error.code === "not-replaceable";
    if (isRefusal || (!isSystemError(error) && !(error instanceof ExportError))) throw error;
    throw new CliError(
      "failed",
      `Cannot write ${file.path}: ${error.message}`,
      "Check the folder, its permissions and free space.",
      { cause: error },
    );
  }
}

async function writeText(
  result: QueryResult,
  path: string,
  format: ResultFormat,
  file: AnswerFile,
): Promise<void> {
  const chunks = resultChunks(result, format, file.csv);
  await writeOutput(path, chunks, file);
}

async function writeTyped(
  result: QueryResult,
  path: string,
  format: "parquet" | "sqlite",
  file: AnswerFile,
): Promise<void> {
  const rows: Row[] = [];
  for await (const row of result.rows) {
    file.signal?.throwIfAborted();
    rows.push(row.map(withWholeNumbers));
  }
  // SQLite does not distinguish `a` from `A`, and a NUL ends a name.
  const names = distinctNames(
    result.columns.map((name) => name.replaceAll("\0", "")),
    (name) => name.toLowerCase(),
  );
  const table = { name: "answer", columns: names, rows: () => rows };
  const columns = inferColumns(names, rows);
  await writeTypedFile(path, format, { table, columns }, { ...file, coverage: coverageOfAnswer(result) });
}

/** Of both mirrors; null if the answer depends on neither. */
function coverageOfAnswer({ coverage: { mirror, catalogue } }: QueryResult): Coverage | null {
  if (mirror === null || catalogue === null) return mirror ?? catalogue;
  const own = new Set(mirror.kinds.map(({ kind }) => kind));
  return coverageOf([...mirror.kinds, ...catalogue.kinds.filter(({ kind }) => !own.has(kind))]);
}

/** A query returns a small integer as a number, which SQLite would store as a real. */
const withWholeNumbers = (cell: Row[number]) =>
  typeof cell === "number" && Number.isSafeInteger(cell) && !Object.is(cell, -0) ? BigInt(cell) : cell;
