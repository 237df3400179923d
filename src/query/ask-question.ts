/** A canned question on a mirror. In: its name and options as a person gives them. Out: what a query gives. */
import { type MirrorReader, readMirror } from "../mirror/mirror-reader.ts";
import type { PointContext } from "../mirror/points/point.ts";
import { pointContext } from "../mirror/points/point-context.ts";
import { QueryError } from "./query-error.ts";
import type { Question } from "./questions/question.ts";
import { findQuestion } from "./questions/questions.ts";
import { type QuestionOptions, type SettledOptions, settleOptions } from "./questions/settle-options.ts";
import { type QueryResult, type QueryTerms, runQuery } from "./run-query.ts";

export interface QuestionRequest extends QueryTerms {
  readonly file: string;
  /** One of `listQuestions()`, by its name. */
  readonly question: string;
  /** By name; those left out are what they are by default. A limit bounds `maxRows`. */
  readonly options?: QuestionOptions;
  /** For points in time among the options; the present unless told. */
  readonly context?: PointContext;
}

/** @throws QueryError, also `question`; PointError; MirrorError; or the signal's reason */
export async function askQuestion(request: QuestionRequest): Promise<QueryResult> {
  const { question: name, options = {}, context = pointContext(), ...rest } = request;
  const question = findQuestion(name);
  const { parameters, limit } = settle(rest, question, options, context);
  const maxRows = Math.min(limit ?? Number.POSITIVE_INFINITY, rest.maxRows ?? Number.POSITIVE_INFINITY);
  try {
    return await runQuery({ ...rest, maxRows, sql: question.sql, parameters });
  } catch (error) {
    throw error instanceof QueryError && error.code === "syntax" ? ofOldMirror(name, error) : error;
  }
}

/** Our own SQL is only wrong where the views are older than it is. */
function ofOldMirror(name: string, { message }: QueryError): QueryError {
  return new QueryError(
    "question",
    `This mirror cannot answer @${name} yet: ${message}`,
    "An earlier version wrote it last; `armoire mirror rebuild` or a sync brings it up to date.",
  );
}

function ofCatalogue({ name }: Question): QueryError {
  return new QueryError(
    "question",
    `@${name} is about a catalogue, and this is the mirror of an account`,
    "Of an account, @newest and @changed can be asked; SQL may read the catalogue beside it as catalogue.brand.",
  );
}

function settle(
  { file, asOf }: Pick<QuestionRequest, "file" | "asOf">,
  question: Question,
  options: QuestionOptions,
  context: PointContext,
): SettledOptions {
  const settleIn = (mirror: MirrorReader): SettledOptions => {
    if (mirror.identity.area === "account" && question.isOfAccounts !== true) throw ofCatalogue(question);
    return settleOptions(mirror, question, options, context);
  };
  return readMirror(file, settleIn, asOf);
}
