/** A table as NDJSON: an object a line and nothing around them, so that a reader needs no more than a line at a time. */
import { batchRows, writeBatchLimits } from "./batch-rows.ts";
import { jsonRowWriter } from "./json-row.ts";
import type { ExportTable, TableText } from "./table.ts";

export function* ndjsonChunks(table: ExportTable): Generator<string> {
  const { addRows } = ndjsonText(table.columns);
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield addRows(batch);
}

export function ndjsonText(columns: readonly string[]): TableText {
  const writeRow = jsonRowWriter(columns);
  return { head: "", addRows: (batch) => batch.map((row) => `${writeRow(row)}\n`).join(""), tail: "" };
}
