/**
 * Executes one read-only statement on one SQLite file. It blocks its thread, without end for an endless statement, so only
 * `query-child.ts` calls it. It must not load modules that know the schema: the process has to start fast.
 */
import Database from "better-sqlite3";
import { type BatchLimits, batchRows, type Row } from "../../../exports/formats/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import { fromStored } from "../../mirror/rows/cells.ts";
import { requireDatabaseFile } from "../../platform/files/regular-files.ts";
import { type BoundValues, bindParameters } from "./bind-parameters.ts";
import { addEnvelopeFunction } from "./envelope-function.ts";
import { notReadOnly, QueryError, type QueryStage, toQueryError } from "./errors.ts";
import type { QueryLimits } from "./limits.ts";
import type { QueryResponse, StartQuery } from "./query-process.ts";
import { listTablesRead } from "./tables-read.ts";

type ReadStatement = Database.Statement<unknown[], SqliteValue[]>;

function countItems(items: Iterable<unknown>): number {
  let count = 0;
  for (const _item of items) count++;
  return count;
}

const batchLimits: BatchLimits = { maxRows: 1000, maxCharacters: 262_144 };
/** The length of a number in the limit of a result. */
const numberLength = 8;

/**
 * Yields the columns, batches of rows, the end, and if that cut the rows their number; an error is the last response. Each is
 * computed on demand.
 */
export function* executeQuery({
  file,
  catalogue,
  shownViews,
  sql,
  parameters,
  maxRows,
  limits,
}: StartQuery): Generator<QueryResponse, void> {
  let database: Database.Database | undefined;
  let stage: QueryStage = "opening";
  /** The rows after the first `maxRows`. */
  let rest = null as IterableIterator<unknown> | null;
  let closeEnvelopes: (() => void) | undefined;
  function* readRows(statement: ReadStatement, values: BoundValues): Generator<Row> {
    const types = statement.columns().map((column) => column.type);
    const checkLength = lengthChecker(limits);
    const rows = statement.iterate(values);
    for (let count = 0; ; count++) {
      const { done, value: row } = rows.next();
      if (done) return;
      if (count >= maxRows) {
        rest = rows;
        return;
      }
      checkLength(row);
      yield row.map((value, index) => readCell(value, types[index] ?? null));
    }
  }
  try {
    requireDatabaseFile(file);
    database = new Database(file, { readonly: true, fileMustExist: true });
    // Sorting and grouping use memory, which is limited, instead of files in a folder for temporary files.
    database.pragma("temp_store = MEMORY");
    // Read-only as well. The user's statement cannot attach a file: ATTACH returns no rows.
    if (catalogue !== null) database.prepare("attach ? as catalogue").run(catalogue);
    for (const view of shownViews) database.exec(view);
    closeEnvelopes = addEnvelopeFunction(database, [
      { path: file, views: shownViews },
      ...(catalogue === null ? [] : [{ path: catalogue, views: [] }]),
    ]);
    stage = "preparing";
    const statement = prepareReadOnly(database, sql);
    const values = bindParameters(database.prepare(sql), parameters);
    const tablesRead = listTablesRead(database, sql, values, catalogue !== null);
    yield { type: "columns", columns: statement.columns().map((column) => column.name), tablesRead };
    stage = "running";
    for (const rows of batchRows(readRows(statement, values), batchLimits)) yield { type: "rows", rows };
    yield { type: "end", isCut: rest !== null };
    if (rest !== null) yield { type: "total", rows: maxRows + 1 + countItems(rest) };
  } catch (error) {
    const tables = () => (database === undefined ? [] : readTables(database));
    const queried = {
      ...{ file, sql, hasCatalogue: catalogue !== null, tables },
      tablesNamed: () => tables().filter((table) => wordsOf(sql).has(table.toLowerCase())),
      columnsOf: (names: readonly string[]) => (database === undefined ? [] : readColumns(database, names)),
    };
    const { code, message, hint } = toQueryError(error, stage, queried);
    yield { type: "error", code, message, hint };
  } finally {
    rest?.return?.();
    database?.close();
    closeEnvelopes?.();
  }
}

const wordsOf = (sql: string): ReadonlySet<string> => new Set(sql.toLowerCase().match(/\w+/g));

/** Without the program's own tables, whose names begin with `_`. Raw SQL: any SQLite file can be queried. */
const readTables = (database: Database.Database): string[] =>
  readNames(
    database,
    "select distinct name from pragma_table_list where type in ('table', 'view') and name not glob '_*' and name not glob 'sqlite_*'",
  );

const readColumns = (database: Database.Database, tables: readonly string[]): string[] =>
  readNames(
    database,
    "select distinct c.name from json_each(?) t join pragma_table_xinfo(t.value) c",
    JSON.stringify(tables),
  );

function readNames(database: Database.Database, sql: string, ...values: string[]): string[] {
  try {
    return database
      .prepare<string[], string>(sql)
      .pluck()
      .all(...values);
  } catch {
    // Only suggestions are made of them.
    return [];
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

/** @returns a function that counts the rows of a result and throws QueryError `too-large` beyond a limit */
function lengthChecker({ maxCellLength, maxResultLength }: QueryLimits): (row: SqliteValue[]) => void {
  let resultLength = 0;
  return (row) => {
    let rowLength = 0;
    for (const value of row) {
      const length = typeof value === "string" || Buffer.isBuffer(value) ? value.length : numberLength;
      if (length > maxCellLength) throw tooLarge("A cell", length, maxCellLength);
      rowLength += length;
    }
    // A row is one message and one text: several cells of the greatest length would take gigabytes.
    const maxRowLength = maxCellLength + numberLength * row.length;
    if (rowLength > maxRowLength) throw tooLarge("A row", rowLength, maxRowLength);
    resultLength += rowLength;
    if (resultLength > maxResultLength) throw resultTooLarge(maxResultLength);
  };
}

function tooLarge(part: string, length: number, maxLength: number): QueryError {
  const message = `${part}'s length is ${length}, and at most ${maxLength} is allowed.`;
  return new QueryError("too-large", message, "Select a part of it with substr(), or its length().");
}

function resultTooLarge(maxResultLength: number): QueryError {
  const message = `The result has more than ${maxResultLength} characters, the most that is allowed.`;
  return new QueryError("too-large", message, "Select fewer columns, or a part at a time with WHERE.");
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
