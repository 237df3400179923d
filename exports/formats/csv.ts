/**
 * Tables as CSV, and rows read back: RFC 4180 quoting, UTF-8, a header. Null is an empty field, empty text a quoted one (`""`).
 * `toCsvText` changes some texts, reversibly.
 */
import type { Cell } from "../../schema/fields.ts";
import { ExportError } from "../errors.ts";
import { numberText } from "./json.ts";
import { rememberTexts } from "./remembered-texts.ts";
import {
  batchRows,
  type ExportTable,
  type Row,
  type RowReader,
  type TableText,
  writeBatchLimits,
} from "./table.ts";

/**
 * - `guarded`: text that a spreadsheet would run as a formula gets an apostrophe.
 * - `exact`: no apostrophes, for programs.
 * - `excel`: `guarded`, with a byte order mark, without which Excel does not read UTF-8, and CR LF line ends.
 */
export const csvProfiles = ["guarded", "exact", "excel"] as const;
export type CsvProfile = (typeof csvProfiles)[number];

const byteOrderMark = "\ufeff";

export function* csvChunks(table: ExportTable, profile: CsvProfile): Generator<string> {
  const { head, addRows } = csvText(table.columns, profile);
  yield head;
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield addRows(batch);
}

/** Lines end with LF, except for Excel: line tools (cut, awk, diff, git) take a CR for a part of the last column. */
export function csvText(columns: readonly string[], profile: CsvProfile): TableText {
  const lineEnd = profile === "excel" ? "\r\n" : "\n";
  const changed = rememberTexts((text) => changedText(text, profile));
  const cellText = (cell: Cell): string => {
    if (cell === null) return "";
    if (typeof cell !== "string") return numberText(cell);
    return cell.length <= maxMatchedLength && plainText.test(cell) ? cell : changed(cell);
  };
  const addRows = (rows: readonly Row[]) => {
    let text = "";
    for (const row of rows) {
      for (let n = 0; n < row.length; n++)
        text += n === 0 ? cellText(row[n] ?? null) : `,${cellText(row[n] ?? null)}`;
      text += lineEnd;
    }
    return text;
  };
  const header = addRows([columns]);
  return { head: profile === "excel" ? byteOrderMark + header : header, addRows, tail: "" };
}

/** For each character of a repetition, a regular expression may keep where it was: with millions, V8's stack overflows. */
const maxMatchedLength = 65_536;

/** Text that needs neither quotes nor changes; most cells match it. */
const plainText = /^[^'=+\-@＝＋－＠\t",\r\n\0\\\p{Surrogate}][^",\r\n\0\\\p{Surrogate}]*$/u;
/** Empty text is not null, and some readers end a row at each kind of line end. */
const needsQuotes = /^$|[",\r\n]/;

function changedText(cell: string, profile: CsvProfile): string {
  const text = toCsvText(cell, profile);
  // Joined, not added: V8 would keep the parts, and put them together again at each use.
  return needsQuotes.test(text) ? ['"', text.replaceAll('"', '""'), '"'].join("") : text;
}

const escapable = /(?<!\\)(\\*)([\0\p{Surrogate}]|u0000|ud[89a-f][0-9a-f]{2})/gu;
const escaped = /(?<!\\)(\\+)u(0000|d[89a-f][0-9a-f]{2})/g;

const needsGuard = /^['=+\-@＝＋－＠\t\r\n]/;

/**
 * Text in a CSV file differs in two ways, both reversible, applied in this order:
 *
 * 1. Lone surrogates and NUL, which UTF-8 or many readers cannot hold, become `\ud800` or `\u0000`. Backslashes directly before
 *    such an escape, or before text that looks like one, are doubled.
 * 2. Not in `exact`: text gets an apostrophe if it begins with `=`, `+`, `-`, `@` or their full-width forms, with a tab or a
 *    line break, so that no spreadsheet runs it as a formula; and also if it begins with an apostrophe, so that a reader can
 *    remove exactly one.
 */
export function toCsvText(text: string, profile: CsvProfile): string {
  // Faster than a regular expression.
  const hasUnwritable = text.indexOf("\\") >= 0 || text.indexOf("\0") >= 0 || !text.isWellFormed();
  const escapedText = hasUnwritable ? text.replace(escapable, writeEscape) : text;
  return profile !== "exact" && needsGuard.test(escapedText) ? `'${escapedText}` : escapedText;
}

/** The inverse of `toCsvText`, given the same profile. */
export function fromCsvText(text: string, profile: CsvProfile): string {
  return (profile !== "exact" && text.startsWith("'") ? text.slice(1) : text).replace(escaped, readEscape);
}

function writeEscape(_match: string, backslashes: string, special: string): string {
  const code = special.length > 1 ? special : `\\u${special.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return backslashes + backslashes + code;
}

function readEscape(_match: string, backslashes: string, hex: string): string {
  const single = backslashes.slice(0, backslashes.length / 2);
  return single + (backslashes.length % 2 === 1 ? String.fromCharCode(Number.parseInt(hex, 16)) : `u${hex}`);
}

/** What is never written matches nothing: text after a closing quote, a quote or CR in a bare field, and NUL. */
const field = /(?:"((?:[^"\0]|"")*)"|([^",\r\0]*))(,|$)/y;

/**
 * Reads the rows of CSV that this file wrote, without the header. Cells are text or null: CSV does not distinguish a number
 * from its digits. An empty field is null, and a quoted empty one is empty text.
 * @throws ExportError `damaged-package`
 */
export function* readCsvRows(lines: Iterable<string>, profile: CsvProfile): Generator<Row> {
  const reader = csvRowReader(profile);
  let isHeader = true;
  for (const line of lines) {
    const row = reader.add(line);
    if (row === null) continue;
    if (!isHeader) yield row;
    isHeader = false;
  }
}

/**
 * The first row is the header. A quoted field may hold line ends, so a row ends where its number of quotes is even. `add` throws
 * ExportError.
 */
export function csvRowReader(profile: CsvProfile): RowReader {
  const end = profile === "excel" ? "\r" : "";
  let open: string | null = null;
  let isFirst = true;
  return {
    add(line) {
      const text: string = open === null ? line : `${open}\n${line}`;
      const hasOddQuotes = (line.split('"').length - 1) % 2 === 1;
      if (hasOddQuotes === (open === null)) {
        open = text;
        return null;
      }
      open = null;
      const record = end !== "" && text.endsWith(end) ? text.slice(0, -end.length) : text;
      const hasMark = isFirst && profile === "excel" && record.startsWith(byteOrderMark);
      isFirst = false;
      return cellsOf(hasMark ? record.slice(byteOrderMark.length) : record, profile);
    },
  };
}

function cellsOf(record: string, profile: CsvProfile): (string | null)[] {
  if (record.length > maxMatchedLength) return longCellsOf(record, profile);
  const cells: (string | null)[] = [];
  field.lastIndex = 0;
  for (let end = ","; end === ","; ) {
    const match = field.exec(record);
    if (match === null) throw notCsv();
    const [, quoted, bare = "", separator = ""] = match;
    if (quoted !== undefined) cells.push(fromCsvText(quoted.replaceAll('""', '"'), profile));
    else cells.push(bare === "" ? null : fromCsvText(bare, profile));
    end = separator;
  }
  return cells;
}

/** The same without regular expressions. */
function longCellsOf(record: string, profile: CsvProfile): (string | null)[] {
  const cells: (string | null)[] = [];
  if (record.includes("\0")) throw notCsv();
  for (let at = 0; at <= record.length; ) {
    const isQuoted = record[at] === '"';
    let end = record.indexOf(isQuoted ? '"' : ",", isQuoted ? at + 1 : at);
    // Quotes in pairs are a part of the text.
    while (isQuoted && end !== -1 && record[end + 1] === '"') end = record.indexOf('"', end + 2);
    if (end === -1 && isQuoted) throw notCsv();
    if (end === -1) end = record.length;
    else if (isQuoted) end++;
    if (end < record.length && record[end] !== ",") throw notCsv();
    const text = record.slice(at, end);
    if (isQuoted) cells.push(fromCsvText(text.slice(1, -1).replaceAll('""', '"'), profile));
    else if (/["\r]/.test(text)) throw notCsv();
    else cells.push(text === "" ? null : fromCsvText(text, profile));
    at = end + 1;
  }
  return cells;
}

const notCsv = () =>
  new ExportError(
    "damaged-package",
    "A row of the export is not CSV as Armoire writes it.",
    "Export again, or restore the folder from a copy.",
  );
