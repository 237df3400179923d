/**
 * One read-only statement on one SQLite file. In: the file, the SQL, its parameters. Out: the answers to a query's
 * messages, each computed when it is asked for. It holds up its whole thread, for ever if the statement has no end, so
 * only `query-child.ts` runs it, in a process that can be killed. It must not load what knows the schema, so that such a
 * process starts soon.
 */
import Database from "better-sqlite3";
import { type BatchLimits, batchRows } from "../../exports/batch-rows.ts";
import type { Row } from "../../exports/table.ts";
import { type BoundValues, bindParameters } from "./bind-parameters.ts";
import { notReadOnly, QueryError } from "./query-error.ts";
import type { QueryAnswer, StartQuery } from "./query-protocol.ts";
import { readCell, type SqliteValue } from "./read-cell.ts";
import { type QueryStage, toQueryError } from "./to-query-error.ts";

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
