export type QueryErrorCode =
  /** A statement that could change something, or that returns no rows. */
  | "not-read-only"
  /** SQLite does not understand it, it is not one statement, or a list of parameters is too long or too short. */
  | "syntax"
  /** A named parameter has no value, or a value no parameter. */
  | "parameters"
  /** There is no such question, or not with these options. */
  | "question"
  | "timeout"
  | "cannot-read"
  | "not-a-database"
  | "damaged"
  | "busy"
  /** One cell is larger than a result may carry. */
  | "too-large"
  /** SQLite gave up while it ran. */
  | "failed"
  /** The query's process ended by itself, most likely for want of memory. */
  | "crashed";

/** A query was refused or did not end well: one line that names the cause, and a hint at what to do next. */
export class QueryError extends Error {
  override readonly name = "QueryError";
  readonly code: QueryErrorCode;
  readonly hint: string;
  constructor(code: QueryErrorCode, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

export function notReadOnly(): QueryError {
  return new QueryError(
    "not-read-only",
    "only a statement that reads and returns rows may run, and this one may do something else",
    "use SELECT, VALUES, WITH … SELECT, EXPLAIN SELECT, or a PRAGMA that only reports",
  );
}
