/**
 * A table as one JSON array of objects, a row on a line of its own, so that a diff of two exports shows rows. Integers
 * are exact whatever their size, and lone surrogates are `\ud800` escapes.
 */
import { batchRows, writeBatchLimits } from "./batch-rows.ts";
import { numberText } from "./number-text.ts";
import type { Cell, ExportTable, TableText } from "./table.ts";

export function* jsonChunks(table: ExportTable): Generator<string> {
  const { head, addRows, tail } = jsonText(table.columns);
  yield head;
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield addRows(batch);
  yield tail;
}

export function jsonText(columns: readonly string[]): TableText {
  const keys = columns.map((column) => JSON.stringify(column));
  let separator = "\n";
  return {
    head: "[",
    addRows(batch) {
      const lines = batch.map(
        (row) => `{${row.map((cell, index) => `${keys[index]}:${cellText(cell)}`).join(",")}}`,
      );
      const text = separator + lines.join(",\n");
      separator = ",\n";
      return text;
    },
    tail: "\n]\n",
  };
}

function cellText(cell: Cell): string {
  return typeof cell === "number" || typeof cell === "bigint" ? numberText(cell) : JSON.stringify(cell);
}
