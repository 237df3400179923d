/**
 * Tables as CSV, and rows read back: RFC 4180 quoting, UTF-8, a header. Null is an empty field, empty text a quoted one (`""`).
 * `toCsvText` changes some texts, reversibly.
 */
import type { ColumnTypes } from "../../schema/dictionary/table-meaning.ts";
import type { Cell } from "../../schema/fields.ts";
import { ExportError } from "../errors.ts";
import {
  escapeSlice,
  escapeText,
  maxSliceLength,
  slicesOf,
  unescapeText,
  type WriteSlice,
  writePlainSlice,
} from "./escaped-text.ts";
import { numberText } from "./json.ts";
import { rememberTexts } from "./remembered-texts.ts";
import {
  batchRows,
  type ExportTable,
  hasLongRow,
  joinPieces,
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

export interface CsvForm {
  /** Which columns are as sent. Default: none. */
  readonly types?: ColumnTypes;
  /** Default: `escapeSlice`. */
  readonly write?: WriteSlice;
}

export function* csvChunks(table: ExportTable, profile: CsvProfile, form?: CsvForm): Generator<string> {
  const { head, addRows } = csvText(table.columns, profile, form);
  yield head;
  for (const batch of batchRows(table.rows(), writeBatchLimits)) yield* addRows(batch);
}

/** Lines end with LF, except for Excel: line tools (cut, awk, diff, git) take a CR for a part of the last column. */
export function csvText(
  columns: readonly string[],
  profile: CsvProfile,
  { types = [], write = escapeSlice }: CsvForm = {},
): TableText {
  const lineEnd = profile === "excel" ? "\r\n" : "\n";
  const changed = rememberTexts((text) => changedText(text, profile, write));
  const isVerbatim = columns.map((_, n) => types[n] === "verbatim");
  const cellText = (cell: Cell, n: number): string => {
    if (cell === null) return "";
    if (typeof cell !== "string") return numberText(cell);
    if (cell.length <= maxMatchedLength && plainText.test(cell)) return cell;
    return isVerbatim[n] ? changedText(cell, profile, writePlainSlice) : changed(cell);
  };
  const textOf = (rows: readonly Row[]): string => {
    let text = "";
    for (const row of rows) {
      for (let n = 0; n < row.length; n++)
        text += n === 0 ? cellText(row[n] ?? null, n) : `,${cellText(row[n] ?? null, n)}`;
      text += lineEnd;
    }
    return text;
  };
  function* piecesOf(rows: readonly Row[]): Generator<string> {
    for (const row of rows) {
      for (const [n, cell] of row.entries()) {
        if (n > 0) yield ",";
        if (typeof cell === "string" && cell.length > maxSliceLength)
          yield* changedPieces(cell, profile, isVerbatim[n] ? writePlainSlice : write);
        else yield cellText(cell, n);
      }
      yield lineEnd;
    }
  }
  const header = textOf([columns]);
  return {
    head: profile === "excel" ? byteOrderMark + header : header,
    addRows: (rows) => (hasLongRow(rows) ? joinPieces(piecesOf(rows)) : [textOf(rows)]),
    tail: "",
  };
}

/** For each character of a repetition, a regular expression may keep where it was: with millions, V8's stack overflows. */
const maxMatchedLength = 65_536;

/** Text that needs neither quotes nor changes; most cells match it. */
const plainText = /^[^'=+\-@＝＋－＠\ufeff\t",\r\n\0\\\p{Surrogate}][^",\r\n\0\\\p{Surrogate}]*$/u;
/** Empty text is not null, and some readers end a row at each kind of line end. */
const needsQuotes = /^$|[",\r\n]/;

function changedText(cell: string, profile: CsvProfile, write: WriteSlice): string {
  const text = guarded(write(cell, 0, cell.length), profile);
  // Joined, not added: V8 would keep the parts, and put them together again at each use.
  return needsQuotes.test(text) ? ['"', text.replaceAll('"', '""'), '"'].join("") : text;
}

/** Escapes have nothing that needs quotes or a guard. */
function* changedPieces(cell: string, profile: CsvProfile, write: WriteSlice): Generator<string> {
  const quote = needsQuotes.test(cell) ? '"' : "";
  yield quote;
  let isFirst = true;
  for (const slice of slicesOf(cell, write)) {
    const text = isFirst ? guarded(slice, profile) : slice;
    yield quote === "" ? text : text.replaceAll('"', '""');
    isFirst = false;
  }
  yield quote;
}

const needsGuard = /^['=+\-@＝＋－＠\ufeff\t\r\n]/;

const guarded = (text: string, profile: CsvProfile): string =>
  profile !== "exact" && needsGuard.test(text) ? `'${text}` : text;

/**
 * Text in a CSV file differs in two ways, both reversible, applied in this order:
 *
 * 1. Lone surrogates and NUL are escaped, as in every format (`escapeText`).
 * 2. Not in `exact`: text gets an apostrophe if it begins with `=`, `+`, `-`, `@` or their full-width forms, with a tab, a
 *    line break or a byte order mark, which a spreadsheet skips at the beginning of a file, so that none runs it as a formula;
 *    and also if it begins with an apostrophe, so that a reader can remove exactly one.
 */
export const toCsvText = (text: string, profile: CsvProfile): string => guarded(escapeText(text), profile);

/** The inverse of `toCsvText`, given the same profile. */
export const fromCsvText = (text: string, profile: CsvProfile): string =>
  unescapeText(unguarded(text, profile));

const unguarded = (text: string, profile: CsvProfile): string =>
  profile !== "exact" && text.startsWith("'") ? text.slice(1) : text;

/** What is never written matches nothing: text after a closing quote, a quote or CR in a bare field, and NUL. */
const field = /(?:"((?:[^"\0]|"")*)"|([^",\r\0]*))(,|$)/y;

/**
 * Reads the rows of CSV that this file wrote, without the header. Cells are text or null: CSV does not distinguish a number
 * from its digits. An empty field is null, and a quoted empty one is empty text.
 * @throws ExportError `damaged-package`
 */
export function* readCsvRows(
  lines: Iterable<string>,
  profile: CsvProfile,
  types?: ColumnTypes,
): Generator<Row> {
  const reader = csvRowReader(profile, types);
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
export function csvRowReader(profile: CsvProfile, types: ColumnTypes = []): RowReader {
  const readText = (text: string, n: number): string =>
    types[n] === "verbatim" ? unguarded(text, profile) : fromCsvText(text, profile);
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
      return cellsOf(hasMark ? record.slice(byteOrderMark.length) : record, readText);
    },
  };
}

type ReadText = (text: string, column: number) => string;

function cellsOf(record: string, readText: ReadText): (string | null)[] {
  if (record.length > maxMatchedLength) return longCellsOf(record, readText);
  const cells: (string | null)[] = [];
  field.lastIndex = 0;
  for (let end = ","; end === ","; ) {
    const match = field.exec(record);
    if (match === null) throw notCsv();
    const [, quoted, bare = "", separator = ""] = match;
    if (quoted !== undefined) cells.push(readText(quoted.replaceAll('""', '"'), cells.length));
    else cells.push(bare === "" ? null : readText(bare, cells.length));
    end = separator;
  }
  return cells;
}

/** The same without regular expressions. */
function longCellsOf(record: string, readText: ReadText): (string | null)[] {
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
    if (isQuoted) cells.push(readText(text.slice(1, -1).replaceAll('""', '"'), cells.length));
    else if (/["\r]/.test(text)) throw notCsv();
    else cells.push(text === "" ? null : readText(text, cells.length));
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
