/**
 * One read-only statement on one SQLite file. In: the file, the SQL, its parameters. Out: the answers to a query's
 * messages, each computed when it is asked for. It holds up its whole thread, for ever if the statement has no end, so
 * only `query-child.ts` runs it, in a process that can be killed. It must not load what knows the schema, so that such a
 * process starts soon.
 */
import Database from "better-sqlite3";
import { type BatchLimits, batchRows, type Row } from "../../../exports/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import { fromStored } from "../../mirror/rows/cells.ts";
import { type BoundValues, bindParameters } from "./bind-parameters.ts";
import { notReadOnly, QueryError, type QueryStage, toQueryError } from "./errors.ts";
import type { QueryAnswer, StartQuery } from "./query-process.ts";

type ReadStatement = Database.Statement<unknown[], SqliteValue[]>;

const answerLimits: BatchLimits = { maxRows: 1000, maxCharacters: 262_144 };
const maxCellLength = 16 * 1024 * 1024;

/** First the columns, then rows, then the end; an error at any point is the last answer. */
export function* answerQuery({
  file,
  catalogue,
  shownViews,
  sql,
  parameters,
  maxRows,
}: StartQuery): Generator<QueryAnswer, void> {
  let database: Database.Database | undefined;
  let stage: QueryStage = "opening";
  let isCut = false;
  function* rowsOf(statement: ReadStatement, values: BoundValues): Generator<Row> {
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
    // Read-only like the file itself. The statement cannot attach another one: that returns no rows.
    if (catalogue !== null) database.prepare("attach ? as catalogue").run(catalogue);
    for (const view of shownViews) database.exec(view);
    stage = "preparing";
    const statement = prepareReadOnly(database, sql);
    const values = bindParameters(database.prepare(sql), parameters);
    yield { type: "columns", columns: statement.columns().map((column) => column.name) };
    stage = "running";
    for (const rows of batchRows(rowsOf(statement, values), answerLimits)) yield { type: "rows", rows };
    yield { type: "end", isCut };
  } catch (error) {
    const { code, message, hint } = toQueryError(error, stage, {
      file,
      hasCatalogue: catalogue !== null,
    });
    yield { type: "error", code, message, hint };
  } finally {
    database?.close();
  }
}

function prepareReadOnly(database: Database.Database, sql: string): ReadStatement {
  // A file that somebody else made may hold views that call functions with effects.
  database.pragma("trusted_schema = OFF");
  const statement = database.prepare<unknown[], SqliteValue[]>(sql);
  // It takes both: ATTACH counts as read-only, and DELETE … RETURNING as a reader.
  if (statement.reader && statement.readonly) return statement.raw().safeIntegers();
  throw notReadOnly();
}

function checkLength(value: SqliteValue): SqliteValue {
  const length = typeof value === "string" || Buffer.isBuffer(value) ? value.length : 0;
  if (length <= maxCellLength) return value;
  const hint = "select a part of it with substr(), or its length()";
  throw new QueryError(
    "too-large",
    `a cell's length is ${length}, and ${maxCellLength} is the most that fits`,
    hint,
  );
}

/** What better-sqlite3 gives when asked for safe integers. */
export type SqliteValue = string | number | bigint | Buffer | null;

/**
 * Turns a value of SQLite into a cell. Integers that a double holds exactly become numbers, others stay bigints. A
 * mirror keeps text with lone surrogates, which UTF-8 cannot hold, as a blob of UTF-16LE in a column declared ANY: it
 * becomes that text again. Any other blob is shown as the SQL literal `x'…'`, which can go into the next query as it is.
 * @param declaredType of the column that the value comes straight from; null for an expression
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
