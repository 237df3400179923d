/**
 * A table as CSV: RFC 4180 quoting, UTF-8 without a byte order mark, a header, and LF line ends, since line tools (cut,
 * awk, diff, git) would see a CR as part of the last column while every CSV reader takes either. Null is an empty field,
 * empty text a quoted one (`""`). See `csv-text.ts` for what else is written differently.
 */
import { stringify } from "csv-stringify/sync";
import { numberText } from "./json.ts";
import { batchRows, type ExportTable, type Row, type TableText, writeBatchLimits } from "./table.ts";

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

/**
 * Text as a CSV file holds it, and back. Two things are changed, both reversibly and one after the other:
 *
 * 1. What UTF-8 or many readers cannot hold, lone surrogates and NUL, is written `\ud800` or `\u0000`. Backslashes
 *    right before such an escape, or before text that looks like one, are doubled; all others stay as they are.
 * 2. What a spreadsheet would run as a formula gets an apostrophe before it: `=`, `+`, `-`, `@` and their full-width
 *    forms at the start, after a separator, a quote or a line break (where a reader that expects another separator
 *    starts a cell), and a tab or line break at the start. Apostrophes already there get one more. `raw` leaves this out.
 */
export interface CsvTextOptions {
  /** Whether formulas are left as they are. */
  readonly raw: boolean;
}

const unwritable = /[\0\\]/;
const escapable = /(?<!\\)(\\*)([\0\p{Surrogate}]|u0000|ud[89a-f][0-9a-f]{2})/gu;
const escaped = /(?<!\\)(\\+)u(0000|d[89a-f][0-9a-f]{2})/g;

const formulaStart = /(?<=^|[,;|\t"\r\n])(?='*[=+\-@＝＋－＠])|^(?='*[\t\r\n])/g;
const guardedStart = /(?<=^|[,;|\t"\r\n])'(?='*[=+\-@＝＋－＠])|^'(?='*[\t\r\n])/g;

export function toCsvText(text: string, { raw }: CsvTextOptions): string {
  const written = unwritable.test(text) || !text.isWellFormed() ? text.replace(escapable, writeEscape) : text;
  return raw ? written : written.replace(formulaStart, "'");
}

/** The inverse of `toCsvText`, given the same options. */
export function fromCsvText(text: string, { raw }: CsvTextOptions): string {
  return (raw ? text : text.replace(guardedStart, "")).replace(escaped, readEscape);
}

function writeEscape(_match: string, backslashes: string, special: string): string {
  const code = special.length > 1 ? special : `\\u${special.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return backslashes + backslashes + code;
}

function readEscape(_match: string, backslashes: string, hex: string): string {
  const kept = backslashes.slice(0, backslashes.length / 2);
  return kept + (backslashes.length % 2 === 1 ? String.fromCharCode(Number.parseInt(hex, 16)) : `u${hex}`);
}

/**
 * The inverse of `csv.ts`, for files that it wrote. Cells come back as text, since CSV does not tell a number from its
 * digits; null and empty text are told apart.
 */

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
