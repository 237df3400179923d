/**
 * Tables as CSV, and rows read back: RFC 4180 quoting, UTF-8 without a byte order mark, a header, and LF line ends. Every CSV
 * reader accepts LF, while line tools (cut, awk, diff, git) take a CR for a part of the last column. Null is an empty field,
 * empty text a quoted one (`""`). `toCsvText` changes some texts, reversibly.
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
 * Text in a CSV file differs in two ways, both reversible, applied in this order:
 *
 * 1. Lone surrogates and NUL, which UTF-8 or many readers cannot hold, become `\ud800` or `\u0000`. Backslashes directly before
 *    such an escape, or before text that looks like one, are doubled.
 * 2. Formulas get an apostrophe, so that no spreadsheet runs them: before `=`, `+`, `-`, `@` and their full-width forms at the
 *    start and after a separator, quote or line break (where a reader with another separator starts a cell), and before a tab
 *    or line break at the start. Existing apostrophes get one more. Not with `raw`.
 */
export interface CsvTextOptions {
  /** Leaves formulas unchanged. */
  readonly raw: boolean;
}

const unwritable = /[\0\\]/;
const escapable = /(?<!\\)(\\*)([\0\p{Surrogate}]|u0000|ud[89a-f][0-9a-f]{2})/gu;
const escaped = /(?<!\\)(\\+)u(0000|d[89a-f][0-9a-f]{2})/g;

const formulaStart = /(?<=^|[,;|\t"\r\n])(?='*[=+\-@＝＋－＠])|^(?='*[\t\r\n])/g;
const guardedStart = /(?<=^|[,;|\t"\r\n])'(?='*[=+\-@＝＋－＠])|^'(?='*[\t\r\n])/g;

export function toCsvText(text: string, { raw }: CsvTextOptions): string {
  const hasUnwritable = unwritable.test(text) || !text.isWellFormed();
  const escapedText = hasUnwritable ? text.replace(escapable, writeEscape) : text;
  return raw ? escapedText : escapedText.replace(formulaStart, "'");
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
  const single = backslashes.slice(0, backslashes.length / 2);
  return single + (backslashes.length % 2 === 1 ? String.fromCharCode(Number.parseInt(hex, 16)) : `u${hex}`);
}

const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/**
 * Reads the rows of CSV that this file wrote, without the header. Cells are text or null: CSV does not distinguish a number
 * from its digits. An empty field is null, and a quoted empty one is empty text.
 */
export function* readCsvRows(lines: Iterable<string>, options: CsvTextOptions): Generator<Row> {
  let isHeader = true;
  for (const record of records(lines)) {
    if (!isHeader) yield cellsOf(record, options);
    isHeader = false;
  }
}

/** Joins lines into records: a quoted field may hold line ends, so a record ends where its number of quotes is even. */
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
