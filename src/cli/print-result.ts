/** The rows of a query on standard output, in the format that is asked for. */
import { csvText } from "../../exports/csv.ts";
import type { CsvTextOptions } from "../../exports/csv-text.ts";
import { jsonText } from "../../exports/json.ts";
import { ndjsonText } from "../../exports/ndjson.ts";
import type { Row } from "../../exports/table.ts";
import type { QueryResult } from "../query/run-query.ts";
import { printText } from "./print-text.ts";
import { formatTable } from "./text-table.ts";
import type { Writer } from "./writer-to.ts";

const texts = { csv: csvText, json: jsonText, ndjson: ndjsonText };

export type ResultFormat = "table" | keyof typeof texts;
export const resultFormats: readonly ResultFormat[] = ["table", "csv", "json", "ndjson"];

/** A table is printed when all its rows are there, anything else while they are read. */
export async function printResult(
  { columns, rows, batches }: Pick<QueryResult, "columns" | "rows" | "batches">,
  format: ResultFormat,
  options: CsvTextOptions,
  write: Writer,
): Promise<void> {
  if (format !== "table") return await printText(texts[format](columns, options), batches, write);
  const gathered: Row[] = [];
  for await (const row of rows) gathered.push(row);
  await write(formatTable(columns, gathered));
}
