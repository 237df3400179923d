/** A canned question on a mirror. In: its name and options as a person gives them. Out: what a query gives. */

import type { Cell } from "../../../schema/fields.ts";
import { findBrands, hintAtBrands } from "../../mirror/find-brands.ts";
import { type PointContext, pointContext } from "../../mirror/points/point.ts";
import { type MirrorReader, readMirror } from "../../mirror/reader.ts";
import { QueryError } from "../sql/errors.ts";
import { type QueryResult, type QueryTerms, runQuery } from "../sql/run-query.ts";
import { type Question, type QuestionOption, readSince } from "./question.ts";
import { findQuestion } from "./questions.ts";

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
export async function runQuestion(request: QuestionRequest): Promise<QueryResult> {
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
): ResolvedParameters {
  const settleIn = (mirror: MirrorReader): ResolvedParameters => {
    if (mirror.identity.area === "account" && question.isOfAccounts !== true) throw ofCatalogue(question);
    return resolveParameters(mirror, question, options, context);
  };
  return readMirror(file, settleIn, asOf);
}

/** From what is given with a question to the parameters of its SQL. */

export type QuestionOptions = Readonly<Record<string, string | number>>;

export interface ResolvedParameters {
  readonly parameters: Readonly<Record<string, Cell>>;
  /** How many rows at most; the SQL gives one more where there are more. Null where there is no limit. */
  readonly limit: number | null;
}

/**
 * @throws QueryError `question` for an option that the question lacks, needs, or cannot do anything with; PointError for
 *   what is no point in time, or none of this mirror
 */
export function resolveParameters(
  mirror: MirrorReader,
  { name, options }: Question,
  given: QuestionOptions,
  context: PointContext,
): ResolvedParameters {
  const unknown = Object.keys(given).find((key) => options.every((option) => option.name !== key));
  if (unknown !== undefined) {
    throw new QueryError("question", `@${name} takes no --${unknown}`, hintAtOptions(options));
  }
  const values = options.map((option): readonly [string, Cell] => {
    const value = given[option.name] ?? option.default;
    if (value !== null) return [option.name, readOption(mirror, option, String(value), context)];
    if (!option.isRequired) return [option.name, null];
    throw new QueryError(
      "question",
      `@${name} needs --${option.name}: ${option.about}`,
      hintAtOptions(options),
    );
  });
  const parameters = Object.fromEntries(values);
  const asked = options.find(({ type }) => type === "limit");
  return { parameters, limit: asked === undefined ? null : Number(parameters[asked.name]) - 1 };
}

function hintAtOptions(options: readonly QuestionOption[]): string {
  const names = options.map(({ name, isRequired }) => (isRequired ? `--${name}` : `[--${name}]`));
  return names.length === 0 ? "It takes no options." : `It takes ${names.join(" ")}.`;
}

function readOption(
  mirror: MirrorReader,
  option: QuestionOption,
  value: string,
  context: PointContext,
): Cell {
  switch (option.type) {
    case "brand":
      return readBrand(mirror, value);
    case "seen":
    case "reported":
      return readSince(mirror, value, option.type, context);
    case "limit":
      if (/^\d{1,15}$/.test(value) && Number(value) > 0) return Number(value) + 1;
      throw wrongValue(option, value, "It must be a whole number, at least 1.");
    case "text":
      if (option.choices === undefined || option.choices.includes(value)) return value;
      throw wrongValue(option, value, `It is one of ${option.choices.join(", ")}.`);
  }
}

/** Several brands can have one name: then all of them are meant. */
function readBrand(mirror: MirrorReader, wanted: string): string {
  const found = findBrands(mirror, wanted, { withGone: true });
  if (found.certainty === "none") {
    const message = `The mirror knows no brand called ${JSON.stringify(wanted)}`;
    throw new QueryError("question", message, hintAtBrands(found.alike));
  }
  const urlOf = mirror.db.prepare<[number], string>("select url from _resource where id = ?").pluck();
  return JSON.stringify(found.ids.map((id) => urlOf.get(id)));
}

function wrongValue({ name }: QuestionOption, value: string, hint: string): QueryError {
  return new QueryError("question", `--${name} cannot be ${JSON.stringify(value)}`, hint);
}
