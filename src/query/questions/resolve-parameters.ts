/** Turns the options given with a question into the parameters of its SQL. */
import type { Cell } from "../../../schema/fields.ts";
import { cupsOf } from "../../../schema/views/size-label.ts";
import { prepareColumn } from "../../mirror/file/statements.ts";
import { findBrands, hintAtBrands } from "../../mirror/find-brands.ts";
import type { PointContext } from "../../mirror/points/point.ts";
import { q } from "../../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { hasSizingSystem, listSizingSystems } from "../lists/size-matrix.ts";
import { QueryError } from "../sql/errors.ts";
import type { Question, QuestionOption } from "./question.ts";
import { describeNothingSince, readSince } from "./read-since.ts";

export type QuestionOptions = Readonly<Record<string, string | number>>;

export interface ResolvedParameters {
  readonly parameters: Readonly<Record<string, Cell>>;
  /** At most this many rows; the SQL yields one more if there are more. Null for no limit. */
  readonly limit: number | null;
  /** What to say if there are no rows: from when on there are none. Null without an option of the type `seen`. */
  readonly ifEmpty: string | null;
}

/** @throws QueryError `question` for an unknown, missing or unusable option; PointError for a bad point in time */
export function resolveParameters(
  mirror: MirrorReader,
  { name, options }: Question,
  given: QuestionOptions,
  context: PointContext,
): ResolvedParameters {
  const unknown = Object.keys(given).find((key) => options.every((option) => option.name !== key));
  if (unknown !== undefined)
    throw new QueryError("question", `@${name} has no option --${unknown}.`, listOptions(options));
  const system = given.system === undefined ? null : String(given.system);
  const resolve = (option: QuestionOption): Cell => {
    const value = given[option.name] ?? option.default;
    if (value !== null) return resolveOption(mirror, option, String(value), { ...context, system });
    if (!option.isRequired) return null;
    const message = `@${name} needs --${option.name}: ${option.about}.`;
    throw new QueryError("question", message, listOptions(options));
  };
  const parameters = Object.fromEntries(options.map((option) => [option.name, resolve(option)]));
  const limit = options.find(({ type }) => type === "limit");
  const since = options.find(({ type, name: key }) => type === "seen" && given[key] !== undefined);
  return {
    parameters,
    limit: limit === undefined ? null : Number(parameters[limit.name]) - 1,
    ifEmpty:
      since === undefined
        ? null
        : describeNothingSince(mirror, String(given[since.name]), String(parameters[since.name])),
  };
}

function listOptions(options: readonly QuestionOption[]): string {
  const names = options.map(({ name, isRequired }) => (isRequired ? `--${name}` : `[--${name}]`));
  return names.length === 0 ? "It has no options." : `Its options: ${names.join(" ")}.`;
}

function resolveOption(
  mirror: MirrorReader,
  option: QuestionOption,
  value: string,
  context: PointContext & { readonly system: string | null },
): Cell {
  switch (option.type) {
    case "brand":
      return resolveBrand(mirror, value);
    case "seen":
    case "reported":
      return readSince(mirror, value, option.type, context);
    case "limit":
      if (/^\d{1,15}$/.test(value) && Number(value) > 0) return Number(value) + 1;
      throw invalidValue(option, value, "It must be a whole number, at least 1.");
    case "system":
      requireSystem(mirror, value);
      return value;
    case "bands":
      return resolveRange(
        option,
        value,
        parseBand,
        "It must be a number or a range, such as 28-30, 28- or -30.",
      );
    case "cups":
      return resolveCups(option, value, context.system ?? "");
    case "text":
      if (option.choices === undefined || option.choices.includes(value)) return value;
      throw invalidValue(option, value, `It must be one of ${option.choices.join(", ")}.`);
  }
}

/** All brands of that name, as a JSON array of URLs. */
function resolveBrand(mirror: MirrorReader, name: string): string {
  const found = findBrands(mirror, name, { withGone: true });
  if (found.certainty === "none") {
    const message = `The mirror has no brand called ${JSON.stringify(name)}.`;
    throw new QueryError("question", message, hintAtBrands(found.similar));
  }
  const selectUrl = prepareColumn(mirror.db, (p: { id: number }) =>
    q.selectFrom("_resource").select("url").where("id", "=", p.id),
  );
  return JSON.stringify(found.ids.map((id) => selectUrl.get({ id })));
}

/** A mirror that holds no sizes yet has none of any system. @throws QueryError */
function requireSystem(mirror: MirrorReader, system: string): void {
  if (hasSizingSystem(mirror, system)) return;
  const systems = listSizingSystems(mirror);
  if (systems.length === 0) return;
  throw new QueryError(
    "question",
    `No size of the mirror has a label in the sizing system ${JSON.stringify(system)}.`,
    `There are ${systems.join(", ")}.`,
  );
}

const parseBand = (end: string): number | null => (/^\d{1,3}$/.test(end) ? Number(end) : null);

/** Between the ends of a range: a hyphen, or a dash as texts have it. */
const dash = /\p{Dash}/u;

/** @param parse returns the place of an end in the order; null for an invalid end */
function resolveRange(
  option: QuestionOption,
  value: string,
  parse: (end: string) => number | null,
  hint: string,
  show: (place: number) => Cell = (place) => place,
): string {
  const [first = "", last = first, ...others] = value.split(dash).map((end) => end.trim());
  const ends = [first, last].map((end) => (end === "" ? null : parse(end)));
  const isValid = [first, last].every((end, n) => end === "" || ends[n] !== null);
  if (!isValid || others.length > 0 || ends.every((end) => end === null))
    throw invalidValue(option, value, hint);
  const [from = null, to = null] = ends;
  if (from !== null && to !== null && from > to)
    throw invalidValue(option, value, "The smaller end comes first.");
  return JSON.stringify(ends.map((end) => (end === null ? null : show(end))));
}

function resolveCups(option: QuestionOption, value: string, system: string): string {
  const cups = cupsOf(system);
  if (cups === null) {
    const message = `The order of the cups of ${JSON.stringify(system)} is unknown, so --${option.name} cannot select some.`;
    throw new QueryError(
      "question",
      message,
      `\`armoire query "select * from cup_order"\` shows the known systems.`,
    );
  }
  const parse = (end: string) => {
    const place = cups.indexOf(end.toUpperCase());
    return place === -1 ? null : place;
  };
  const hint = `It must be a cup or a range, such as DD-G or H-, of ${cups.join(" ")}.`;
  return resolveRange(option, value, parse, hint, (place) => cups[place] ?? null);
}

function invalidValue({ name }: QuestionOption, value: string, hint: string): QueryError {
  return new QueryError("question", `The value of --${name} is invalid: ${JSON.stringify(value)}.`, hint);
}
