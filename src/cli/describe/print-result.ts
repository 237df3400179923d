/** Rows on standard output, in the format that is asked for. */
import { csvText } from "../../../exports/csv.ts";
import type { CsvTextOptions } from "../../../exports/csv-text.ts";
import { jsonText } from "../../../exports/json.ts";
import { ndjsonText } from "../../../exports/ndjson.ts";
import type { Row } from "../../../exports/table.ts";
import type { QueryResult } from "../../query/run-query.ts";
import { printText } from "../terminal/print-text.ts";
import { formatTable } from "../terminal/text-table.ts";
import type { Writer } from "../terminal/writer-to.ts";

const texts = { csv: csvText, json: jsonText, ndjson: ndjsonText };

export type ResultFormat = "table" | keyof typeof texts;
/** A table is printed when all its rows are there, anything else while they are read. */
export async function printResult(
  { columns, rows, batches }: Pick<QueryResult, "columns" | "rows" | "batches">,
  format: ResultFormat,
  options: CsvTextOptions,
  write: Writer,
): Promise<void> {
  if (format !== "table") {
    const names = format === "csv" ? columns : distinct(columns);
    return await printText(texts[format](names, options), batches, write);
  }
  const gathered: Row[] = [];
  for await (const row of rows) gathered.push(row);
  await write(formatTable(columns, gathered));
}

/** In an object only one of several members of a name would be read: the others are `name_2`, `name_3`. */
function distinct(columns: readonly string[]): string[] {
  const names: string[] = [];
  for (const column of columns) {
    const candidates = [column, ...columns.map((_, n) => `${column}_${n + 2}`)];
    const isTaken = (name: string) => names.includes(name) || (name !== column && columns.includes(name));
    names.push(candidates.find((name) => !isTaken(name)) ?? column);
  }
  return names;
}

/** The same of rows that are all there. */
export function printRows(
  columns: readonly string[],
  rows: readonly Row[],
  format: ResultFormat,
  options: CsvTextOptions,
  write: Writer,
): Promise<void> {
  return printResult({ columns, rows: each(rows), batches: each([rows]) }, format, options, write);
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
