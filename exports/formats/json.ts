/**
 * Tables as JSON (one array, each row an object on a line of its own, so a diff of two exports shows rows) and as NDJSON (one
 * object a line, nothing around them); and rows read back from either.
 */
import type { ColumnTypes } from "../../schema/dictionary/table-meaning.ts";
import type { Cell } from "../../schema/fields.ts";
import { defaultJsonLimits, isRawNumber, JsonError, parseJsonOrThrow } from "../../schema/json.ts";
import {
  escapeSlice,
  escapeText,
  maxSliceLength,
  slicesOf,
  unescapeText,
  withoutLoneSurrogates,
} from "./escaped-text.ts";
import { rememberTexts } from "./remembered-texts.ts";
import {
  batchRows,
  type ExportTable,
  hasLongRow,
  joinPieces,
  type Row,
  type RowReader,
  type TableText,
  writeBatchLimits,
} from "./table.ts";

export interface JsonForm {
  /** Makes 1 and 0 of a boolean column true and false, and the JSON text of an object column an object. Default: no types. */
  readonly types?: ColumnTypes;
  /** Default: `quoteEscaped`. */
  readonly quote?: QuoteText;
}

/** A slice of a text as a text of JSON. */
export type QuoteText = (text: string, from?: number, to?: number) => string;

/** Of exports: reading them restores every text. */
export const quoteEscaped: QuoteText = (text, from = 0, to = text.length) =>
  JSON.stringify(escapeSlice(text, from, to));

/** Of answers and columns as sent: they say what a text is, and only lone surrogates become escapes as text. */
export const quotePlain: QuoteText = (text, from = 0, to = text.length) =>
  withoutLoneSurrogates(JSON.stringify(text.slice(from, to)));

export function* jsonChunks(table: ExportTable, form?: JsonForm): Generator<string> {
  const { head, addRows, tail } = jsonText(table.columns, form);
  yield head;
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield* addRows(batch);
  yield tail;
}

export function jsonText(columns: readonly string[], form?: JsonForm): TableText {
  const writer = jsonRowWriter(columns, form);
  let separator = "\n";
  return {
    head: "[",
    *addRows(batch) {
      if (hasLongRow(batch)) yield* joinPieces(writer.piecesOf(batch, separator, ",\n", ""));
      else yield separator + batch.map(writer.writeRow).join(",\n");
      separator = ",\n";
    },
    tail: "\n]\n",
  };
}

export function* ndjsonChunks(table: ExportTable, form?: JsonForm): Generator<string> {
  const { addRows } = ndjsonText(table.columns, form);
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield* addRows(batch);
}

export function ndjsonText(columns: readonly string[], form?: JsonForm): TableText {
  const writer = jsonRowWriter(columns, form);
  return {
    head: "",
    *addRows(batch) {
      if (hasLongRow(batch)) yield* joinPieces(writer.piecesOf(batch, "", "", "\n"));
      else yield batch.map((row) => `${writer.writeRow(row)}\n`).join("");
    },
    tail: "",
  };
}

interface JsonRowWriter {
  /** One line of JSON. Integers of any size are exact. */
  writeRow(row: Row): string;
  /** The same of several rows, in pieces, with texts before the first one, before each other one, and after each. */
  piecesOf(rows: readonly Row[], first: string, before: string, after: string): Generator<string>;
}

function jsonRowWriter(
  columns: readonly string[],
  { types = [], quote: quoteAny = quoteEscaped }: JsonForm = {},
): JsonRowWriter {
  const quotes = columns.map((_, index) => (types[index] === "verbatim" ? quotePlain : quoteAny));
  const keys = columns.map((column) => `${quoteAny(column)}:`);
  const fields = keys.map((key, index) => {
    const [type, quote = quoteAny] = [types[index], quotes[index]];
    if (type === "boolean") return (cell: Cell) => key + booleanText(cell, quote);
    if (type !== "object") return (cell: Cell) => key + cellText(cell, quote);
    // Joined, for the reason in csv.ts.
    const write = rememberTexts((text) => [key, objectText(text)].join(""));
    return (cell: Cell) => (typeof cell === "string" ? write(cell) : key + cellText(cell, quote));
  });
  function* piecesOfField(row: Row, n: number): Generator<string> {
    const cell = row[n];
    if (typeof cell !== "string" || cell.length <= maxSliceLength || types[n] === "object")
      return yield fields[n]?.(cell ?? null) ?? "";
    yield `${keys[n]}"`;
    for (const slice of slicesOf(cell, quotes[n] ?? quoteAny)) yield slice.slice(1, -1);
    yield '"';
  }
  return {
    writeRow(row) {
      let text = "";
      for (let n = 0; n < fields.length; n++)
        text += (n === 0 ? "{" : ",") + (fields[n]?.(row[n] ?? null) ?? "");
      return `${text}}`;
    },
    *piecesOf(rows, first, before, after) {
      for (const [index, row] of rows.entries()) {
        yield index === 0 ? first : before;
        for (let n = 0; n < fields.length; n++) {
          yield n === 0 ? "{" : ",";
          yield* piecesOfField(row, n);
        }
        yield `}${after}`;
      }
    },
  };
}

function booleanText(cell: Cell, quote: QuoteText): string {
  return cell === 1n || cell === 1 ? "true" : cell === 0n || cell === 0 ? "false" : cellText(cell, quote);
}

/** A text that reading would not restore byte for byte stays text. */
function objectText(text: string): string {
  const escaped = escapeText(text);
  return /^[[{]/.test(escaped) && isRestored(escaped) ? escaped : JSON.stringify(escaped);
}

/** A whole row is within the limits of parsing, too. */
const limitsInRow = {
  maxDepth: defaultJsonLimits.maxDepth - 1,
  maxValues: defaultJsonLimits.maxValues - 1_000,
};

function isRestored(text: string): boolean {
  try {
    // A short text is within the limits. Most have only numbers that a double holds.
    const isShort = text.length <= 2 * limitsInRow.maxDepth;
    if (isShort && JSON.stringify(JSON.parse(text)) === text) return true;
    return JSON.stringify(parseJsonOrThrow(text, limitsInRow).value) === text;
  } catch (error) {
    if (error instanceof JsonError || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Most texts match it; `JSON.stringify` takes longer. */
const plainText = /^[ !#-[\]-~]*$/;

function cellText(cell: Cell, quote: QuoteText): string {
  if (cell === null) return "null";
  if (typeof cell !== "string") return numberText(cell);
  return plainText.test(cell) ? `"${cell}"` : quote(cell);
}

/**
 * A number as JSON and CSV write it: `Number(text)` or `BigInt(text)` is the same value. -0 keeps its sign. JSON has no
 * infinity, so it becomes a numeral beyond the range of a double. SQLite stores no NaN.
 */
export function numberText(value: number | bigint): string {
  if (Object.is(value, -0)) return "-0";
  if (value === Number.POSITIVE_INFINITY) return "1e999";
  if (value === Number.NEGATIVE_INFINITY) return "-1e999";
  return String(value);
}

interface JsonWithRaw {
  rawJSON(text: string): unknown;
}

/** JSON with exact numbers of any size, and text as in answers (`quotePlain`). `numberText` formats -0 and infinities. */
export function toJson(value: unknown): string {
  const exact = JSON as unknown as JsonWithRaw;
  const json = JSON.stringify(value, (_key, part) => {
    if (typeof part !== "bigint" && typeof part !== "number") return part;
    const number = Number(part);
    const isExact = typeof part === "bigint" ? Number.isSafeInteger(number) : isWrittenExactly(number);
    return isExact ? number : exact.rawJSON(numberText(part));
  });
  return withoutLoneSurrogates(json);
}

function isWrittenExactly(number: number): boolean {
  return Number.isFinite(number) && !Object.is(number, -0);
}

/** Reads rows from the lines of an export in JSON or NDJSON. A whole number beyond 2^53 is a bigint. */
export function* readJsonRows(
  lines: Iterable<string>,
  columns: readonly string[],
  types?: ColumnTypes,
): Generator<Row> {
  const reader = jsonRowReader(columns, types);
  for (const line of lines) {
    const row = reader.add(line);
    if (row !== null) yield row;
  }
}

/** `add` throws JsonError. */
export function jsonRowReader(columns: readonly string[], types: ColumnTypes = []): RowReader {
  const keys = columns.map(escapeText);
  return {
    add(line) {
      if (!line.startsWith("{")) return null;
      const { value, hasDuplicateKeys } = parseJsonOrThrow(line.endsWith(",") ? line.slice(0, -1) : line);
      if (hasDuplicateKeys) throw new JsonError("not-json", "a member of the row is there twice");
      const row = value as Readonly<Record<string, unknown>>;
      return keys.map((key, n) => (types[n] === "verbatim" ? verbatimCell(row[key]) : toCell(row[key])));
    },
  };
}

const verbatimCell = (value: unknown): Cell => (typeof value === "string" ? value : toCell(value));

function toCell(value: unknown): Cell {
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "string") return unescapeText(value);
  if (!isRawNumber(value))
    return typeof value === "object" && value !== null
      ? unescapeText(JSON.stringify(value))
      : ((value ?? null) as Cell);
  const { rawJSON } = value;
  return /^-?[1-9]\d*$/.test(rawJSON) ? BigInt(rawJSON) : Number(rawJSON);
}
