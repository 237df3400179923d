/**
 * A table as one JSON array of objects, a row on a line of its own, so that a diff of two exports shows rows. Integers
 * are exact whatever their size, and lone surrogates are `\ud800` escapes.
 */
import { batchRows, writeBatchLimits } from "./batch-rows.ts";
import { numberText } from "./number-text.ts";
import type { Cell, ExportTable } from "./table.ts";

export function* jsonChunks(table: ExportTable): Generator<string> {
  const keys = table.columns.map((column) => JSON.stringify(column));
  yield "[";
  let separator = "\n";
  for (const batch of batchRows(table.rows(), writeBatchLimits)) {
    const lines = batch.map(
      (row) => `{${row.map((cell, index) => `${keys[index]}:${cellText(cell)}`).join(",")}}`,
    );
    yield separator + lines.join(",\n");
    separator = ",\n";
  }
  yield "\n]\n";
}

function cellText(cell: Cell): string {
  return typeof cell === "number" || typeof cell === "bigint" ? numberText(cell) : JSON.stringify(cell);
}
