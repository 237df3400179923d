/**
 * A table as CSV: RFC 4180 quoting, UTF-8 without a byte order mark, a header, and LF line ends, since line tools (cut,
 * awk, diff, git) would see a CR as part of the last column while every CSV reader takes either. Null is an empty field,
 * empty text a quoted one (`""`). See `csv-text.ts` for what else is written differently.
 */
import { stringify } from "csv-stringify/sync";
import { batchRows, writeBatchLimits } from "./batch-rows.ts";
import { type CsvTextOptions, toCsvText } from "./csv-text.ts";
import { numberText } from "./number-text.ts";
import type { ExportTable, Row, TableText } from "./table.ts";

export function* csvChunks(table: ExportTable, options: CsvTextOptions): Generator<string> {
  const { head, addRows } = csvText(table.columns, options);
  yield head;
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield addRows(batch);
}

export function csvText(columns: readonly string[], options: CsvTextOptions): TableText {
  const addRows = (rows: readonly Row[]) =>
    stringify([...rows], {
      quoted_match: /^$/,
      cast: { string: (text) => toCsvText(text, options), number: numberText, bigint: numberText },
    });
  return { head: addRows([columns]), addRows, tail: "" };
}
