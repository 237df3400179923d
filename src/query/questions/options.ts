/** The options that questions share, and pieces of SQL: by which the commonest one narrows them down, and how a thing is called. */
import type { QuestionOption } from "./question.ts";

const since = "since a point in time: a day, a time, a run, latest or -7d";
const optional = { default: null, isRequired: false } as const;

export const brand: QuestionOption = {
  name: "brand",
  type: "brand",
  ...optional,
  about: "only this brand, by its URL, name or slug",
};

export const kind: QuestionOption = {
  name: "kind",
  type: "text",
  ...optional,
  choices: ["brand", "model", "size", "bra", "measurement"],
  about: "only this kind: brand, model or size; of an account bra or measurement",
};

export const size: QuestionOption = {
  name: "size",
  type: "text",
  ...optional,
  isRequired: true,
  about: "the size's label, such as 65F",
};

export const system: QuestionOption = {
  name: "system",
  type: "text",
  ...optional,
  about: "the sizing system's label, such as EU",
};

export const sinceSeen: QuestionOption = {
  name: "since",
  type: "seen",
  ...optional,
  about: since,
};

export const sinceReported: QuestionOption = {
  name: "since",
  type: "reported",
  ...optional,
  about: since,
};

export const limit: QuestionOption = {
  name: "limit",
  type: "limit",
  default: 20,
  isRequired: false,
  about: "at most so many rows",
};

/** @param column a brand's URL */
export const isOfBrand = (column: string): string =>
  `(:brand is null or ${column} in (select value from json_each(:brand)))`;

/**
 * A measurement has no name: it is called by its id, the last segment of its URL, as `show` and `history` call it.
 * @param table the view `known`, as the question calls it
 */
export function nameOfKnown(table: string): string {
  const url = `rtrim(${table}.href, '/')`;
  const id = `replace(${url}, rtrim(${url}, replace(${url}, '/', '')), '')`;
  return `coalesce(${table}.name, iif(${table}.kind = 'measurement', ${id}, null))`;
}
