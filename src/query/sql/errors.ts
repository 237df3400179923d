import Database from "better-sqlite3";
import { errorClass } from "../../platform/errors.ts";

/** A query was refused or failed: one line that names the cause, and what to do next. */
export class QueryError extends errorClass("QueryError", {
  /** A statement that could change something, or that returns no rows. */
  "not-read-only": "usage",
  /** Not one valid statement, or a wrong number of parameters. */
  syntax: "usage",
  /** A named parameter without a value, or a value without a parameter. */
  parameters: "usage",
  /** An unknown question, or options that it does not have. */
  question: "usage",
  timeout: "failed",
  "cannot-read": "failed",
  "not-a-database": "failed",
  damaged: "damaged",
  busy: "failed",
  /** One cell is larger than a result may carry. */
  "too-large": "failed",
  /** SQLite gave up while running it. */
  failed: "failed",
  /** The query process ended by itself, most likely out of memory. */
  crashed: "failed",
}) {}

export type QueryErrorCode = QueryError["code"];

export function notReadOnly(): QueryError {
  return new QueryError(
    "not-read-only",
    "only a statement that reads and returns rows may run, and this one may do something else",
    "use SELECT, VALUES, WITH … SELECT, EXPLAIN SELECT, or a PRAGMA that only reports",
  );
}

/** How far a query had come when an error was thrown. */
export type QueryStage = "opening" | "preparing" | "running";

const hints: Readonly<Partial<Record<QueryErrorCode, string>>> = {
  "cannot-read": "check the path, and that you may read the file and its folder",
  "not-a-database": "give the path of a mirror",
  damaged: "run `armoire mirror check` to see what is wrong with it",
  busy: "try again in a moment",
  "too-large": "select a part of it with substr(), or its length()",
};

/** SQLite has one code for all that is wrong with a statement. */
const unknownName = /^no such (table|column)\b/;
const nameOfCatalogue = /^no such table: catalogue\./;
const hintAtCatalogue =
  "the catalogue is beside the mirror of an account, once `armoire sync --base-url URL` has mirrored it";
/** The public names are views, and this is how SQLite refuses to write into one. */
const writeIntoView = /^cannot modify .+ because it is a view$/;
const hintAtNames = "`SELECT name, sql FROM sqlite_schema` lists the tables and their columns";

/**
 * Says what became of a query on `file`, in one line; SQLite's own words for the cause are kept.
 * @param hasCatalogue whether a catalogue could be read beside it
 */
export function toQueryError(
  error: unknown,
  stage: QueryStage,
  { file, hasCatalogue }: { readonly file: string; readonly hasCatalogue: boolean },
): QueryError {
  if (error instanceof QueryError) return error;
  const code = codeOf(error, stage);
  const cause = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
  if (writeIntoView.test(cause)) return notReadOnly();
  const isAboutFile = code !== "syntax" && code !== "failed";
  return new QueryError(
    code,
    isAboutFile ? `${file}: ${cause}` : cause,
    hints[code] ?? hintAt(cause, hasCatalogue),
  );
}

function hintAt(cause: string, hasCatalogue: boolean): string {
  if (!hasCatalogue && nameOfCatalogue.test(cause)) return hintAtCatalogue;
  return unknownName.test(cause) ? hintAtNames : "check the statement";
}

function codeOf(error: unknown, stage: QueryStage): QueryErrorCode {
  // What better-sqlite3 throws by itself is about its arguments: the path, the number of statements, the parameters.
  if (!(error instanceof Database.SqliteError)) return stage === "opening" ? "cannot-read" : "syntax";
  const [, code] = error.code.split("_");
  switch (code) {
    case "CANTOPEN":
    case "IOERR":
    case "PERM":
    case "AUTH":
      return "cannot-read";
    case "NOTADB":
      return "not-a-database";
    case "CORRUPT":
      return "damaged";
    case "BUSY":
    case "LOCKED":
      return "busy";
    case "TOOBIG":
      return "too-large";
    default:
      return stage === "preparing" && code === "ERROR" ? "syntax" : "failed";
  }
}
