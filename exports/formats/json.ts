/**
 * Tables as JSON (one array, each row an object on a line of its own, so a diff of two exports shows rows) and as NDJSON (one
 * object a line, nothing around them); and rows read back from either.
 */
import type { ColumnType } from "../../schema/dictionary/table-meaning.ts";
import type { Cell } from "../../schema/fields.ts";
import { defaultJsonLimits, isRawNumber, JsonError, parseJsonOrThrow } from "../../schema/json.ts";
import { rememberTexts } from "./remembered-texts.ts";
import {
  batchRows,
  type ExportTable,
  type Row,
  type RowReader,
  type TableText,
  writeBatchLimits,
} from "./table.ts";

/** The types of columns by position; null for an unknown one. */
export type ColumnTypes = readonly (ColumnType | null)[];

export function* jsonChunks(table: ExportTable, types?: ColumnTypes): Generator<string> {
  const { head, addRows, tail } = jsonText(table.columns, types);
  yield head;
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield addRows(batch);
  yield tail;
}

export function jsonText(columns: readonly string[], types?: ColumnTypes): TableText {
  const writeRow = jsonRowWriter(columns, types);
  let separator = "\n";
  return {
    head: "[",
    addRows(batch) {
      const text = separator + batch.map(writeRow).join(",\n");
      separator = ",\n";
      return text;
    },
    tail: "\n]\n",
  };
}

export function* ndjsonChunks(table: ExportTable, types?: ColumnTypes): Generator<string> {
  const { addRows } = ndjsonText(table.columns, types);
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield addRows(batch);
}

export function ndjsonText(columns: readonly string[], types?: ColumnTypes): TableText {
  const writeRow = jsonRowWriter(columns, types);
  return { head: "", addRows: (batch) => batch.map((row) => `${writeRow(row)}\n`).join(""), tail: "" };
}

/**
 * Writes a row as one line of JSON. Integers of any size are exact, and lone surrogates are escapes such as `\ud800`.
 * @param types makes 1 and 0 of a boolean column true and false, and the JSON text of an object column an object
 */
function jsonRowWriter(columns: readonly string[], types: ColumnTypes = []): (row: Row) => string {
  const fields = columns.map((column, index) => {
    const key = `${JSON.stringify(column)}:`;
    const type = types[index];
    if (type === "boolean") return (cell: Cell) => key + booleanText(cell);
    if (type !== "object") return (cell: Cell) => key + cellText(cell);
    // Joined, for the reason in csv.ts.
    const write = rememberTexts((text) => [key, objectText(text)].join(""));
    return (cell: Cell) => (typeof cell === "string" ? write(cell) : key + cellText(cell));
  });
  return (row) => {
    let text = "";
    for (let n = 0; n < fields.length; n++)
      text += (n === 0 ? "{" : ",") + (fields[n]?.(row[n] ?? null) ?? "");
    return `${text}}`;
  };
}

function booleanText(cell: Cell): string {
  return cell === 1n || cell === 1 ? "true" : cell === 0n || cell === 0 ? "false" : cellText(cell);
}

/** A text that reading would not restore byte for byte stays text. */
function objectText(text: string): string {
  return /^[[{]/.test(text) && isRestored(text) ? text : JSON.stringify(text);
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

function cellText(cell: Cell): string {
  if (cell === null) return "null";
  if (typeof cell !== "string") return numberText(cell);
  return plainText.test(cell) ? `"${cell}"` : JSON.stringify(cell);
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

/** JSON with exact numbers of any size. `numberText` formats -0 and infinities. */
export function toJson(value: unknown): string {
  const exact = JSON as unknown as JsonWithRaw;
  return JSON.stringify(value, (_key, part) => {
    if (typeof part !== "bigint" && typeof part !== "number") return part;
    const number = Number(part);
    const isExact = typeof part === "bigint" ? Number.isSafeInteger(number) : isWrittenExactly(number);
    return isExact ? number : exact.rawJSON(numberText(part));
  });
}

function isWrittenExactly(number: number): boolean {
  return Number.isFinite(number) && !Object.is(number, -0);
}

/** Reads rows from the lines of JSON or NDJSON that this file wrote. A whole number beyond 2^53 is a bigint. */
export function* readJsonRows(lines: Iterable<string>, columns: readonly string[]): Generator<Row> {
  const reader = jsonRowReader(columns);
  for (const line of lines) {
    const row = reader.add(line);
    if (row !== null) yield row;
  }
}

/** `add` throws JsonError. */
export function jsonRowReader(columns: readonly string[]): RowReader {
  return {
    add(line) {
      if (!line.startsWith("{")) return null;
      const { value } = parseJsonOrThrow(line.endsWith(",") ? line.slice(0, -1) : line);
      const row = value as Readonly<Record<string, unknown>>;
      return columns.map((column) => toCell(row[column]));
    },
  };
}

function toCell(value: unknown): Cell {
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (!isRawNumber(value))
    return typeof value === "object" && value !== null ? JSON.stringify(value) : ((value ?? null) as Cell);
  const { rawJSON } = value;
  return /^-?[1-9]\d*$/.test(rawJSON) ? BigInt(rawJSON) : Number(rawJSON);
}
