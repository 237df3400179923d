/** From what is given with a question to the parameters of its SQL. */
import type { Cell } from "../../../exports/table.ts";
import { findBrands, hintAtBrands } from "../../mirror/find-brands.ts";
import type { MirrorReader } from "../../mirror/mirror.ts";
import { QueryError } from "../query-error.ts";
import type { Question, QuestionOption } from "./question.ts";
import { readSince, shortest, type TimesOf } from "./read-since.ts";

export type QuestionOptions = Readonly<Record<string, string | number>>;

/** @throws QueryError `question` for an option that the question lacks, needs, or cannot do anything with */
export function settleOptions(
  mirror: MirrorReader,
  { name, options }: Question,
  given: QuestionOptions,
): Readonly<Record<string, Cell>> {
  const unknown = Object.keys(given).find((key) => options.every((option) => option.name !== key));
  if (unknown !== undefined) {
    throw new QueryError("question", `@${name} takes no --${unknown}`, hintAtOptions(options));
  }
  const values = options.map((option) => {
    const value = given[option.name];
    if (value !== undefined) return [option.name, readOption(mirror, option, String(value))] as const;
    if (!option.isRequired) return [option.name, option.default] as const;
    throw new QueryError(
      "question",
      `@${name} needs --${option.name}: ${option.about}`,
      hintAtOptions(options),
    );
  });
  return Object.fromEntries(values);
}

function hintAtOptions(options: readonly QuestionOption[]): string {
  const names = options.map(({ name, isRequired }) => (isRequired ? `--${name}` : `[--${name}]`));
  return names.length === 0 ? "It takes no options." : `It takes ${names.join(" ")}.`;
}

function readOption(mirror: MirrorReader, option: QuestionOption, value: string): Cell {
  switch (option.type) {
    case "brand":
      return readBrand(mirror, value);
    case "seen":
    case "reported":
      return readTime(mirror, option, option.type, value);
    case "count":
      if (/^\d{1,15}$/.test(value)) return Number(value);
      throw wrongValue(option, value, "It must be a whole number.");
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

function readTime(mirror: MirrorReader, option: QuestionOption, times: TimesOf, value: string): string {
  if (!/^\d{1,9}$/.test(value)) {
    const time = readSince(value, times);
    if (time !== null) return time;
    throw wrongValue(
      option,
      value,
      "Write a day as 2026-01-31, a time as 2026-01-31T06:00Z, or a run as 12.",
    );
  }
  const startOf = mirror.db.prepare<[number], string>("select started_at from _run where id = ?").pluck();
  const start = startOf.get(Number(value));
  if (start === undefined)
    throw wrongValue(option, value, "There is no such run; `armoire runs` lists them.");
  return times === "seen" ? start : shortest(start.slice(0, -1));
}

function wrongValue({ name }: QuestionOption, value: string, hint: string): QueryError {
  return new QueryError("question", `--${name} cannot be ${JSON.stringify(value)}`, hint);
}
