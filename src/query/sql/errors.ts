import Database from "better-sqlite3";
import { errorClass, messageOf } from "../../platform/errors.ts";
import { similarOrSharing } from "../../platform/text/fuzzy-names.ts";

/** A query was refused or failed. The message is one line. */
export class QueryError extends errorClass("QueryError", {
  /** The statement could change something, or returns no rows. */
  "not-read-only": "usage",
  /** Not one valid statement, or a wrong number of parameters. */
  syntax: "usage",
  /** A named parameter without a value, or a value without a parameter. */
  parameters: "usage",
  /** An unknown question, or wrong options for it. */
  question: "usage",
  /** The statement's text is longer than allowed. */
  "too-long": "usage",
  timeout: "failed",
  /** The query's process needed more memory than allowed. */
  memory: "failed",
  "cannot-read": "failed",
  "not-a-database": "failed",
  damaged: "damaged",
  busy: "failed",
  /** One cell, one row or the whole result is larger than allowed. */
  "too-large": "failed",
  /** SQLite failed while it executed the statement. */
  failed: "failed",
  /** The query's process ended, most likely out of memory, or could not be started. */
  crashed: "failed",
}) {}

export type QueryErrorCode = QueryError["code"];

export function notReadOnly(): QueryError {
  return new QueryError(
    "not-read-only",
    "Only statements that read and return rows are allowed.",
    "Use SELECT, VALUES, WITH … SELECT, EXPLAIN SELECT, or a PRAGMA that only reports.",
  );
}

/** The stage of a query in which an error was thrown. */
export type QueryStage = "opening" | "preparing" | "running";

const hints: Readonly<Partial<Record<QueryErrorCode, string>>> = {
  "cannot-read": "Check the path and the permissions of the file and its folder.",
  "not-a-database": "Give the path of a mirror.",
  damaged: "`armoire mirror check` shows the damage.",
  busy: "Try again in a moment.",
  "too-large": "Select a part of it with substr(), or its length().",
};

// SQLite has one error code for all errors of a statement, so its messages are matched.
const unknownName = /^no such (?<what>table|column): (?:.*\.)?(?<name>[^.]+)$/;
/** SQLite's own advice for text in double quotes. */
const quotedColumn = /^no such column: "(?<name>.*)" - should this be a string literal in single-quotes\?$/;
const unknownCatalogue = /^no such table: catalogue\./;
const ambiguousColumn = /^ambiguous column name: (?:.*\.)?(?<name>[^.]+)$/;
const unknownFunction = /^no such function: (?<name>\w+)$/i;
const unclosedQuote = /^unrecognized token: "["'`[]/;
const rowsAtTheTop = /\bselect\s+(?:distinct\s+)?top\s*\(?\s*(?<rows>\d+)/i;
/** Of the shells of SQLite and other databases. */
const commandAboutTables =
  /^(?:\.(?:tables|schema)|\\d|desc(?:ribe)?|show\s+(?:tables|columns\s+(?:from|in)))(?:\s+(?<table>\w+))?;?$/i;
const severalStatements = /more than one statement/;
const writeIntoView = /^cannot modify .+ because it is a view$/;

export interface QueriedFile {
  readonly file: string;
  /** The statement. */
  readonly sql: string;
  /** Whether a catalogue is attached. */
  readonly hasCatalogue: boolean;
  /** The names of all tables. */
  readonly tables: () => readonly string[];
  /** Those that the statement names. */
  readonly tablesNamed: () => readonly string[];
  /** The columns of these tables. */
  readonly columnsOf: (tables: readonly string[]) => readonly string[];
}

/** Turns any error of a query on a file into one sentence, which ends with SQLite's own words. */
export function toQueryError(error: unknown, stage: QueryStage, queried: QueriedFile): QueryError {
  if (error instanceof QueryError) return error;
  const code = codeOf(error, stage);
  const cause = messageOf(error).replace(/\s+/g, " ");
  // The public names are views.
  if (writeIntoView.test(cause)) return notReadOnly();
  return new QueryError(
    code,
    `${failureOf(code, queried.file)}: ${cause.replace(/(?<![.?])$/, ".")}`,
    hints[code] ?? hintFor(cause, queried),
  );
}

function failureOf(code: QueryErrorCode, file: string): string {
  if (code === "syntax") return "SQLite rejects the statement";
  return code === "failed" || code === "too-large" ? "The statement failed" : `Cannot query ${file}`;
}

function hintFor(cause: string, queried: QueriedFile): string {
  if (!queried.hasCatalogue && unknownCatalogue.test(cause))
    return "With --account, `catalogue` is available once `armoire sync --base-url URL` has mirrored it.";
  const quoted = quotedColumn.exec(cause)?.groups?.name;
  if (quoted !== undefined) {
    const [similar] = similarOrSharing(quoted, queried.columnsOf(queried.tablesNamed()), 1);
    const guess = similar === undefined ? "" : `Did you mean the column ${similar}? `;
    return `${guess}Text is in single quotes: '${quoted.replaceAll("'", "''")}'.`;
  }
  const unknown = unknownName.exec(cause)?.groups;
  if (unknown?.name !== undefined)
    return unknown.what === "table"
      ? `${guessOf(unknown.name, queried.tables())}\`armoire tables\` lists the tables.`
      : hintAtColumns(unknown.name, queried);
  const ambiguous = ambiguousColumn.exec(cause)?.groups?.name;
  if (ambiguous !== undefined) return hintAtTables(ambiguous, queried);
  const called = unknownFunction.exec(cause)?.groups?.name;
  if (called !== undefined) return hintAtFunction(called);
  if (severalStatements.test(cause)) return "Give one statement at a time.";
  return hintAtSyntax(cause, queried.sql);
}

/** What other databases write. */
function hintAtSyntax(cause: string, sql: string): string {
  const isUnclosed = cause.includes("syntax error") && sql.split("'").length % 2 === 0;
  if (isUnclosed || unclosedQuote.test(cause))
    return "A quote is not closed. Text is in single quotes, and those in it are doubled: 'Anita''s'.";
  const asked = commandAboutTables.exec(sql.trim())?.groups;
  if (asked !== undefined)
    return `\`armoire tables\` lists the tables, and \`armoire tables ${asked.table ?? "NAME"}\` the columns of ${asked.table === undefined ? "one" : "this one"}.`;
  const rows = rowsAtTheTop.exec(sql)?.groups?.rows;
  if (rows !== undefined) return `SQLite has no TOP: write LIMIT ${rows} at the end of the statement.`;
  return "Check the statement.";
}

/** The columns of joined tables need the name of theirs. */
function hintAtTables(column: string, { tablesNamed, columnsOf }: QueriedFile): string {
  const having = tablesNamed().filter((table) => columnsOf([table]).includes(column));
  const names = having.map((table) => `${table}.${column}`);
  const example = names.length === 0 ? "" : `, such as ${names.join(" or ")}`;
  return `Several of the tables have it. Write the table, or its alias if it has one, before it${example}.`;
}

const strftime = (format: string, what: string) => `strftime('${format}', TIME) is ${what}`;

/** What SQLite has instead of functions of other databases. */
const otherFunctions: Readonly<Record<string, string>> = {
  year: strftime("%Y", "the year"),
  month: strftime("%m", "the month"),
  day: strftime("%d", "the day"),
  hour: strftime("%H", "the hour"),
  ...Object.fromEntries(
    ["date_format", "to_char", "date_trunc", "date_part", "datepart"].map((name) => [
      name,
      strftime("%Y-%m", "the year and the month"),
    ]),
  ),
  ...Object.fromEntries(["now", "getdate"].map((name) => [name, "datetime('now') is the present"])),
  datediff: "julianday(LATER) - julianday(EARLIER) is the number of days",
  left: "substr(TEXT, 1, N) is the beginning",
  right: "substr(TEXT, -N) is the end",
  len: "length(TEXT) is the length",
  isnull: "coalesce(VALUE, OTHER) replaces null",
  nvl: "coalesce(VALUE, OTHER) replaces null",
};

function hintAtFunction(name: string): string {
  const other = otherFunctions[name.toLowerCase()];
  return other === undefined ? "SQLite's functions: https://sqlite.org/lang.html" : `In SQLite, ${other}.`;
}

function hintAtColumns(name: string, { tablesNamed, columnsOf }: QueriedFile): string {
  const tables = tablesNamed();
  const shown = tables.length === 0 ? ["NAME"] : tables;
  const commands = shown.map((table) => `\`armoire tables ${table}\``).join(" and ");
  return `${guessOf(name, columnsOf(tables))}${commands} ${shown.length === 1 ? "lists" : "list"} the columns.`;
}

function guessOf(name: string, names: readonly string[]): string {
  const similar = similarOrSharing(name, names, 2);
  return similar.length > 0 ? `Did you mean ${similar.join(" or ")}? ` : "";
}

function codeOf(error: unknown, stage: QueryStage): QueryErrorCode {
  // better-sqlite3's own errors concern its arguments: the path, the number of statements, the parameters.
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
