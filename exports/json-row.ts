import type { Cell } from "../schema/fields.ts";
import { numberText } from "./number-text.ts";
import type { Row } from "./table.ts";

/** From a row to one line of JSON, an object. Integers are exact whatever their size, and lone surrogates are `\ud800` escapes. */
export function jsonRowWriter(columns: readonly string[]): (row: Row) => string {
  const keys = columns.map((column) => JSON.stringify(column));
  return (row) => `{${row.map((cell, index) => `${keys[index]}:${cellText(cell)}`).join(",")}}`;
}

function cellText(cell: Cell): string {
  return typeof cell === "number" || typeof cell === "bigint" ? numberText(cell) : JSON.stringify(cell);
}
