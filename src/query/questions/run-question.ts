/** Runs a canned question on a mirror, as a query with a deadline. */
import { readShownViews } from "../../mirror/past/as-of.ts";
import { type PointContext, pointContext } from "../../mirror/points/point.ts";
import { readMirror } from "../../mirror/reader.ts";
import { QueryError } from "../sql/errors.ts";
import { startQueryProcess } from "../sql/query-process.ts";
import {
  type QueryOptions,
  type QueryRequest,
  type QueryResult,
  runQueryOverViews,
} from "../sql/run-query.ts";
import { toMatrix } from "./matrix.ts";
import { areasOf } from "./question.ts";
import { findQuestion } from "./questions.ts";
import { type QuestionOptions, resolveParameters } from "./resolve-parameters.ts";

export interface QuestionRequest extends QueryOptions {
  /** The path of a mirror. */
  readonly file: string;
  /** The name of one of `listQuestions()`. */
  readonly question: string;
  /** By name; others have their defaults. The smaller of the question's limit and `maxRows` counts. */
  readonly options?: QuestionOptions;
  /** For options that are points in time. Default: the current time and zone. */
  readonly context?: PointContext;
}

export interface QuestionResult extends QueryResult {
  /** What to say if there are no rows; null for nothing. */
  readonly ifEmpty: string | null;
}

/**
 * Answers a named question, as `runQuery` executes a statement.
 * @param startProcess as for `runQuery`
 * @throws QueryError, also `question`; PointError; MirrorError; the signal's reason
 */
export async function runQuestion(
  request: QuestionRequest,
  startProcess = startQueryProcess,
): Promise<QuestionResult> {
  const { question: name, options = {}, context = pointContext(), ...query } = request;
  const question = findQuestion(name);
  const { parameters, limit, ifEmpty, shownViews } = readMirror(
    query.file,
    (mirror) => {
      const { area } = mirror.identity;
      if (!areasOf(question).includes(area))
        throw area === "account" ? catalogueOnly(name) : accountOnly(name);
      // The public views of this version: those of the file may be of another one, or a stranger's.
      const shownViews = readShownViews(mirror.db);
      return { ...resolveParameters(mirror, question, options, context), shownViews };
    },
    query.asOf,
  );
  const maxRows = Math.min(limit ?? Number.POSITIVE_INFINITY, query.maxRows ?? Number.POSITIVE_INFINITY);
  const { sql, matrix } = question;
  // A question may read tables of either area, such as for keys, and was checked to fit this one.
  const about = { ifEmpty, emptyTables: { area: null, names: [] } };
  // The SQL yields no more rows that could be counted.
  const countMillis = maxRows === limit ? 0 : (query.countMillis ?? 0);
  const ask = (request: QueryRequest) => runQueryOverViews(request, () => shownViews, startProcess);
  if (matrix === undefined)
    return Object.assign(await ask({ ...query, countMillis, maxRows, sql, parameters }), about);
  const { maxRows: _, ...wholeQuery } = query;
  return Object.assign(await toMatrix(await ask({ ...wholeQuery, sql, parameters }), matrix, maxRows), about);
}

function accountOnly(name: string): QueryError {
  return new QueryError(
    "question",
    `@${name} works only on the mirror of an account, and this is a catalogue.`,
    "Choose an account with --account NAME.",
  );
}

function catalogueOnly(name: string): QueryError {
  return new QueryError(
    "question",
    `@${name} works only on a catalogue, and this is the mirror of an account.`,
    "Use @bras, @measurements, @newest or @changed, or SQL; SQL can read the catalogue too, as catalogue.brand and so on.",
  );
}
