/** A canned question: SQL with a name, over the public views, so that it works wherever these do. */

import { type Point, type PointContext, PointError, parsePoint } from "../../mirror/points/point.ts";
import { resolvePoint } from "../../mirror/points/resolve-point.ts";
import { readServiceTime, toServiceTime } from "../../mirror/points/service-time.ts";
import type { MirrorReader } from "../../mirror/reader.ts";

export interface Question {
  /** What it is asked by: lower-case words with hyphens. */
  readonly name: string;
  /** In one sentence, with what its answer depends on. */
  readonly asks: string;
  readonly options: readonly QuestionOption[];
  /** Whether it makes sense for an account too; else for a catalogue only. */
  readonly isOfAccounts?: boolean;
  /** One SELECT. Its parameters are the options, by name: null where one is not given and has no default. */
  readonly sql: string;
}

export interface QuestionOption {
  /** A lower-case word; `--name` on the command line, `:name` in the SQL. */
  readonly name: string;
  /**
   * What is to be given, and what the SQL gets: `brand`, a URL, name or slug → a JSON array of the brand's URLs;
   * `seen`, a time or run → text to compare with times of our own; `reported`, the same for `last_modified_at`;
   * `limit`, how many rows at most → one more than that, so that a cut shows; `text`, as it is.
   */
  readonly type: "brand" | "seen" | "reported" | "limit" | "text";
  readonly about: string;
  /** What it is when it is left out; null for nothing. */
  readonly default: number | null;
  readonly isRequired: boolean;
  /** Of a text: all that it can be. */
  readonly choices?: readonly string[];
}

/** The options that questions share, and pieces of SQL: by which the commonest one narrows them down, and how a thing is called. */

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

/** From a point as a person writes it to text that a column of times can be compared with. */

/** Whose times: our own, which are UTC, or the service's, which name no zone. */
export type TimesOf = "seen" | "reported";

/**
 * When what is named begins; a run is named by what began with it.
 * @throws PointError
 */
export function readSince(
  mirror: Pick<MirrorReader, "db" | "asOf">,
  text: string,
  times: TimesOf,
  context: PointContext,
): string {
  const point = parsePoint(text, context);
  const start = point.kind === "time" ? point.from : startOf(mirror, point);
  if (times === "seen") return start;
  return shortest(point.kind === "time" ? readServiceTime(text, context) : toServiceTime(start));
}

function startOf({ db, asOf }: Pick<MirrorReader, "db" | "asOf">, point: Point): string {
  if (point.kind === "run" && asOf !== null && point.run > asOf.run) {
    throw new PointError(
      "no-such-run",
      `Run ${point.run} is after run ${asOf.run}, as of which the mirror is shown`,
      "Give an earlier one, or a later point in time to see the mirror as of.",
    );
  }
  const { run } = resolvePoint(db, point);
  return db.prepare<[number], string>("select started_at from _run where id = ?").pluck().get(run) ?? "";
}

/** The same time with nothing behind it that says zero: as text, no other way to write it comes before this one. */
function shortest(time: string): string {
  return time.replace(/^(.*T\d\d:\d\d):00$/, "$1").replace(/T00:00$/, "");
}
