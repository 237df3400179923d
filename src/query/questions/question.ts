/**
 * A canned question: one SELECT with a name and typed options. Its SQL reads public views and is shown to the user as a
 * starting point for their own, so this folder has SQL text instead of query builders.
 */
import type { Area } from "../../../schema/kind.ts";

/** A named question: SQL with options. */
export interface Question {
  /** Lower-case words with hyphens. */
  readonly name: string;
  /** One sentence. */
  readonly title: string;
  readonly options: readonly QuestionOption[];
  /** The mirrors that it works on. Default: only the catalogue's. */
  readonly areas?: readonly Area[];
  /** Its parameters are the options by name; null for an option that is not given and has no default. */
  readonly sql: string;
  /** Prints the rows as a matrix. Default: as they are. */
  readonly matrix?: Matrix;
}

/** Columns of the rows of a question: the values of `across` become columns, in order of appearance. */
export interface Matrix {
  /** These identify a row of the matrix. The first is its first column, the others are its last. */
  readonly down: readonly [string, ...string[]];
  /** The column whose values become columns. */
  readonly across: string;
  /** The column whose values fill them. */
  readonly value: string;
  /** The name of the column for rows whose `across` is null. */
  readonly nullName: string;
  /** Whether the rows stay in order of appearance. Default: they are sorted by `down`. */
  readonly isOrdered?: boolean;
}

export interface QuestionOption {
  /** A lower-case word; `--name` on the command line, `:name` in the SQL. */
  readonly name: string;
  /**
   * How the given text becomes a parameter. `brand`: a URL, name or slug becomes a JSON array of brand URLs. `seen`: a point
   * in time becomes text that compares with the mirror's times; `reported`, with `last_modified_at`. `limit`: a number of
   * rows becomes one more, so that a cut is detected. `bands` and `cups`: a range such as 28-30, H- or -K becomes a JSON
   * array of both ends, with null for an open end; cups are those of the option `system`, a sizing system that sizes of the
   * mirror have labels in. `text` is passed as given.
   */
  readonly type: "brand" | "seen" | "reported" | "limit" | "system" | "bands" | "cups" | "text";
  /** One phrase for the help. */
  readonly about: string;
  /** Null for no default. */
  readonly default: number | null;
  readonly isRequired: boolean;
  /** The allowed texts. Default: any. */
  readonly choices?: readonly string[];
}

const optional = { default: null, isRequired: false } as const;

export const brand: QuestionOption = {
  name: "brand",
  type: "brand",
  ...optional,
  about: "only this brand: its URL, name or slug",
};

export const kind: QuestionOption = {
  name: "kind",
  type: "text",
  ...optional,
  choices: ["brand", "model", "size", "bra", "measurement"],
  about: "only this kind: brand, model or size; with --account, bra or measurement",
};

export const size: QuestionOption = {
  name: "size",
  type: "text",
  ...optional,
  isRequired: true,
  about: "the label of a size, such as 65F",
};

export const system: QuestionOption = {
  name: "system",
  type: "system",
  ...optional,
  about: "the label of a sizing system, such as EU",
};

export const bands: QuestionOption = {
  name: "band",
  type: "bands",
  ...optional,
  about: "only these bands, such as 28-30, 28- or 28",
};

export const cups: QuestionOption = {
  name: "cup",
  type: "cups",
  ...optional,
  about: "only these cups in the order of the system, such as DD-G, H- or H",
};

const since =
  "only from this day or time on, such as 2026-11-03 or -7d; all questions but @discontinued also take a run: its number, or latest";

export const sinceSeen: QuestionOption = { name: "since", type: "seen", ...optional, about: since };

export const sinceReported: QuestionOption = { name: "since", type: "reported", ...optional, about: since };

export const limit: QuestionOption = {
  name: "limit",
  type: "limit",
  default: 20,
  isRequired: false,
  about: "at most this many rows",
};

export const areasOf = ({ areas = ["catalogue"] }: Question): readonly Area[] => areas;

/** SQL for the option `brand`. @param column a brand's URL */
export const isOfBrand = (column: string): string =>
  `(:brand is null or ${column} in (select value from json_each(:brand)))`;

/** SQL for the column `key` of a resource of any kind. @param href SQL for its URL */
export const keyOf = (href: string): string => `(select key from resource_key where href = ${href}) as key`;
