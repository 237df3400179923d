/**
 * Tables as JSON (one array, each row an object on a line of its own, so a diff of two exports shows rows) and as NDJSON (one
 * object a line, nothing around them); and rows read back from either.
 */
import type { Cell } from "../schema/fields.ts";
import { isRawNumber, parseJsonOrThrow } from "../schema/json.ts";
import { batchRows, type ExportTable, type Row, type TableText, writeBatchLimits } from "./table.ts";

export function* jsonChunks(table: ExportTable): Generator<string> {
  const { head, addRows, tail } = jsonText(table.columns);
  yield head;
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield addRows(batch);
  yield tail;
}

export function jsonText(columns: readonly string[]): TableText {
  const writeRow = jsonRowWriter(columns);
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

export function* ndjsonChunks(table: ExportTable): Generator<string> {
  const { addRows } = ndjsonText(table.columns);
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield addRows(batch);
}

export function ndjsonText(columns: readonly string[]): TableText {
  const writeRow = jsonRowWriter(columns);
  return { head: "", addRows: (batch) => batch.map((row) => `${writeRow(row)}\n`).join(""), tail: "" };
}

/** Writes a row as one line of JSON. Integers of any size are exact, and lone surrogates are escapes such as `\ud800`. */
export function jsonRowWriter(columns: readonly string[]): (row: Row) => string {
  const keys = columns.map((column) => JSON.stringify(column));
  return (row) => `{${row.map((cell, index) => `${keys[index]}:${cellText(cell)}`).join(",")}}`;
}

function cellText(cell: Cell): string {
  return typeof cell === "number" || typeof cell === "bigint" ? numberText(cell) : JSON.stringify(cell);
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

/** Reads rows from the lines of JSON or NDJSON that this file wrote. A whole number beyond 2^53 is a bigint. */
export function* readJsonRows(lines: Iterable<string>, columns: readonly string[]): Generator<Row> {
  for (const line of lines) {
    if (!line.startsWith("{")) continue;
    const { value } = parseJsonOrThrow(line.endsWith(",") ? line.slice(0, -1) : line);
    const row = value as Readonly<Record<string, unknown>>;
    yield columns.map((column) => toCell(row[column]));
  }
}

function toCell(value: unknown): Cell {
  if (!isRawNumber(value)) return (value ?? null) as Cell;
  const { rawJSON } = value;
  return /^-?[1-9]\d*$/.test(rawJSON) ? BigInt(rawJSON) : Number(rawJSON);
}
