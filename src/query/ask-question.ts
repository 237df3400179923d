/** A canned question on a mirror. In: its name and options as a person gives them. Out: what a query gives. */
import { toMirrorError } from "../mirror/errors.ts";
import { openMirrorReader } from "../mirror/mirror.ts";
import { QueryError } from "./query-error.ts";
import type { QueryParameters } from "./query-protocol.ts";
import type { Question } from "./questions/question.ts";
import { findQuestion } from "./questions/questions.ts";
import { type QuestionOptions, settleOptions } from "./questions/settle-options.ts";
import { type QueryResult, type QueryTerms, runQuery } from "./run-query.ts";

export interface QuestionRequest extends QueryTerms {
  readonly file: string;
  /** One of `listQuestions()`, by its name. */
  readonly question: string;
  /** By name; those left out are what they are by default. */
  readonly options?: QuestionOptions;
}

/** @throws QueryError, also `question`; MirrorError; or the signal's reason */
export async function askQuestion(request: QuestionRequest): Promise<QueryResult> {
  const { question: name, options = {}, ...rest } = request;
  const question = findQuestion(name);
  const parameters = settle(rest, question, options);
  try {
    return await runQuery({ ...rest, sql: question.sql, parameters });
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

function settle(
  { file, asOf }: Pick<QuestionRequest, "file" | "asOf">,
  question: Question,
  options: QuestionOptions,
): QueryParameters {
  const mirror = openMirrorReader(file, asOf);
  try {
    return settleOptions(mirror, question, options);
  } catch (error) {
    throw toMirrorError(error, file);
  } finally {
    mirror.close();
  }
}
