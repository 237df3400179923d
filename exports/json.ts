/** A table as one JSON array of objects, a row on a line of its own, so that a diff of two exports shows rows. */
import { batchRows, writeBatchLimits } from "./batch-rows.ts";
import { jsonRowWriter } from "./json-row.ts";
import type { ExportTable, TableText } from "./table.ts";

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
