/**
 * The inverse of `csv.ts`, for files that it wrote. Cells come back as text, since CSV does not tell a number from its
 * digits; null and empty text are told apart.
 */
import { type CsvTextOptions, fromCsvText } from "./csv-text.ts";
import type { Row } from "./table.ts";

const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/** Rows without the header. */
export function* readCsvRows(lines: Iterable<string>, options: CsvTextOptions): Generator<Row> {
  let isHeader = true;
  for (const record of records(lines)) {
    if (!isHeader) yield cellsOf(record, options);
    isHeader = false;
  }
}

/** A field in quotes may hold line ends: a record is whole when its quotes are even in number. */
function* records(lines: Iterable<string>): Generator<string> {
  let open: string | null = null;
  for (const line of lines) {
    const text: string = open === null ? line : `${open}\n${line}`;
    const hasOddQuotes = (line.split('"').length - 1) % 2 === 1;
    if (hasOddQuotes === (open === null)) open = text;
    else {
      yield text;
      open = null;
    }
  }
}

function cellsOf(record: string, options: CsvTextOptions): (string | null)[] {
  const cells: (string | null)[] = [];
  field.lastIndex = 0;
  for (let end = ","; end === ","; ) {
    const [, quoted, bare = "", separator = ""] = field.exec(record) ?? [];
    if (quoted !== undefined) cells.push(fromCsvText(quoted.replaceAll('""', '"'), options));
    else cells.push(bare === "" ? null : fromCsvText(bare, options));
    end = separator;
  }
  return cells;
}
