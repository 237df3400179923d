/** A table as one JSON array of objects, a row on a line of its own, so that a diff of two exports shows rows. */

import type { Cell } from "../schema/fields.ts";
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

/** A table as NDJSON: an object a line and nothing around them, so that a reader needs no more than a line at a time. */

export function* ndjsonChunks(table: ExportTable): Generator<string> {
  const { addRows } = ndjsonText(table.columns);
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield addRows(batch);
}

export function ndjsonText(columns: readonly string[]): TableText {
  const writeRow = jsonRowWriter(columns);
  return { head: "", addRows: (batch) => batch.map((row) => `${writeRow(row)}\n`).join(""), tail: "" };
}

/** From a row to one line of JSON, an object. Integers are exact whatever their size, and lone surrogates are `\ud800` escapes. */
export function jsonRowWriter(columns: readonly string[]): (row: Row) => string {
  const keys = columns.map((column) => JSON.stringify(column));
  return (row) => `{${row.map((cell, index) => `${keys[index]}:${cellText(cell)}`).join(",")}}`;
}

function cellText(cell: Cell): string {
  return typeof cell === "number" || typeof cell === "bigint" ? numberText(cell) : JSON.stringify(cell);
}

/** The inverse of `json.ts` and `ndjson.ts`, for files that they wrote: a row on a line of its own. */

interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): Readonly<Record<string, Cell>>;
}

/** Node 22 has this; TypeScript's library does not name it yet. */
const exactJson = JSON as unknown as JsonWithSource;

/** Every number is the one that was written: a whole one beyond 2^53 is a bigint. */
export function* readJsonRows(lines: Iterable<string>, columns: readonly string[]): Generator<Row> {
  for (const line of lines) {
    if (!line.startsWith("{")) continue;
    const text = line.endsWith(",") ? line.slice(0, -1) : line;
    const row = exactJson.parse(text, keepExact);
    yield columns.map((column) => row[column] ?? null);
  }
}

function keepExact(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isRounded = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/**
 * A number as JSON and CSV write it, such that `Number(text)` (or `BigInt(text)`) gives the same value again: -0 keeps
 * its sign, and an infinity, for which JSON has no word, is a numeral beyond the range of a double. NaN cannot be
 * stored by SQLite and is not expected.
 */
export function numberText(value: number | bigint): string {
  if (Object.is(value, -0)) return "-0";
  if (value === Number.POSITIVE_INFINITY) return "1e999";
  if (value === Number.NEGATIVE_INFINITY) return "-1e999";
  return String(value);
}
