/**
 * Executes one read-only statement on one SQLite file. It blocks its thread, without end for an endless statement, so only
 * `query-child.ts` calls it. It must not load modules that know the schema: the process has to start fast.
 */
import Database from "better-sqlite3";
import { type BatchLimits, batchRows, type Row } from "../../../exports/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import { fromStored } from "../../mirror/rows/cells.ts";
import { type BoundValues, bindParameters } from "./bind-parameters.ts";
import { notReadOnly, QueryError, type QueryStage, toQueryError } from "./errors.ts";
import type { QueryResponse, StartQuery } from "./query-process.ts";

type ReadStatement = Database.Statement<unknown[], SqliteValue[]>;

const batchLimits: BatchLimits = { maxRows: 1000, maxCharacters: 262_144 };
const maxCellLength = 16 * 1024 * 1024;

/** Yields the columns, batches of rows, and the end; an error is the last response. Each is computed on demand. */
export function* executeQuery({
  file,
  catalogue,
  shownViews,
  sql,
  parameters,
  maxRows,
}: StartQuery): Generator<QueryResponse, void> {
  let database: Database.Database | undefined;
  let stage: QueryStage = "opening";
  let isCut = false;
  function* readRows(statement: ReadStatement, values: BoundValues): Generator<Row> {
    const types = statement.columns().map((column) => column.type);
    let count = 0;
    for (const row of statement.iterate(values)) {
      isCut = count++ >= maxRows;
      if (isCut) return;
      yield row.map((value, index) => readCell(checkLength(value), types[index] ?? null));
    }
  }
  try {
    database = new Database(file, { readonly: true, fileMustExist: true });
    // Read-only as well. The user's statement cannot attach a file: ATTACH returns no rows.
    if (catalogue !== null) database.prepare("attach ? as catalogue").run(catalogue);
    for (const view of shownViews) database.exec(view);
    stage = "preparing";
    const statement = prepareReadOnly(database, sql);
    const values = bindParameters(database.prepare(sql), parameters);
    yield { type: "columns", columns: statement.columns().map((column) => column.name) };
    stage = "running";
    for (const rows of batchRows(readRows(statement, values), batchLimits)) yield { type: "rows", rows };
    yield { type: "end", isCut };
  } catch (error) {
    const { code, message, hint } = toQueryError(error, stage, { file, hasCatalogue: catalogue !== null });
    yield { type: "error", code, message, hint };
  } finally {
    database?.close();
  }
}

function prepareReadOnly(database: Database.Database, sql: string): ReadStatement {
  // Views in a file of unknown origin may call functions with side effects.
  database.pragma("trusted_schema = OFF");
  const statement = database.prepare<unknown[], SqliteValue[]>(sql);
  // Both are needed: ATTACH counts as read-only, and DELETE … RETURNING as a reader.
  if (statement.reader && statement.readonly) return statement.raw().safeIntegers();
  throw notReadOnly();
}

function checkLength(value: SqliteValue): SqliteValue {
  const length = typeof value === "string" || Buffer.isBuffer(value) ? value.length : 0;
  if (length <= maxCellLength) return value;
  const message = `A cell's length is ${length}, and at most ${maxCellLength} is allowed.`;
  throw new QueryError("too-large", message, "Select a part of it with substr(), or its length().");
}

/** A value of better-sqlite3 with safe integers. */
export type SqliteValue = string | number | bigint | Buffer | null;

/**
 * Turns a value of SQLite into a cell. An integer becomes a number if a double holds it exactly, else a bigint. UTF-8
 * cannot hold lone surrogates, so a mirror stores such text as a UTF-16LE blob in a column of type ANY; it becomes text
 * again. Any other blob becomes the SQL literal `x'…'`, which works in a next query.
 * @param declaredType the type of the column that the value comes from; null for an expression
 */
export function readCell(value: SqliteValue, declaredType: string | null): Cell {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (!Buffer.isBuffer(value)) return value;
  if (declaredType === "ANY" && value.length % 2 === 0) {
    const text = fromStored(value);
    if (typeof text === "string" && !text.isWellFormed()) return text;
  }
  return `x'${value.toString("hex")}'`;
}
