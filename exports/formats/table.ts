/** What tables of exports are, and the formats that they are written in. */
import { extname } from "node:path";
import type { Cell } from "../../schema/fields.ts";
import { maxSliceLength } from "./escaped-text.ts";

/** The formats of exported tables. `sqlite` is one file with all tables, the others are a file for each. */
export const exportFormats = ["csv", "json", "ndjson", "parquet", "sqlite"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** These are compressed on request; Parquet is so already, and SQLite needs the plain file. */
const textFormats = ["csv", "json", "ndjson"] as const;
export type TextFormat = (typeof textFormats)[number];

export const isTextFormat = (format: string): format is TextFormat =>
  textFormats.some((text) => text === format);

/** The format that a file's name ends with, such as `.csv`; null for any other name. */
export function formatOfName(file: string): ExportFormat | null {
  const ending = extname(file).slice(1).toLowerCase();
  return exportFormats.find((format) => format === ending) ?? null;
}

/** A whole number may be a bigint or, if that is exact, a number. */
export type Row = readonly Cell[];

/** A table to write. Its rows may come from anywhere. */
export interface ExportTable {
  /** Becomes a file name: lower-case letters and underscores. */
  readonly name: string;
  /** In the order of the cells of a row. */
  readonly columns: readonly string[];
  /** Ordered by key, one cell for each column. Called once for each format, with the same rows each time. */
  rows(): Iterable<Row>;
}

/** Writes a table in one format: the head, any number of batches in order, the tail. */
export interface TableText {
  readonly head: string;
  /** In pieces: a text of 16 Mi characters, written whole and escaped, would take hundreds of megabytes. */
  addRows(batch: readonly Row[]): Iterable<string>;
  readonly tail: string;
}

/** Reads rows from lines, which come one by one. */
export interface RowReader {
  /** The row that ends with this line; null if it ends with a later one, or the line belongs to no row. */
  add(line: string): Row | null;
}

export interface BatchLimits {
  readonly maxRows: number;
  /** UTF-16 code units; a batch ends with the row that reaches the limit. */
  readonly maxCharacters: number;
}

/** The estimated length of a cell without its text, so that wide rows without text end a batch as well. */
const charactersPerCell = 8;

/** Groups rows into batches. Memory stays small even if single rows hold a megabyte. */
export function* batchRows(rows: Iterable<Row>, { maxRows, maxCharacters }: BatchLimits): Generator<Row[]> {
  let batch: Row[] = [];
  let characters = 0;
  for (const row of rows) {
    batch.push(row);
    for (const cell of row) characters += charactersPerCell + (typeof cell === "string" ? cell.length : 0);
    if (batch.length === maxRows || characters >= maxCharacters) {
      yield batch;
      batch = [];
      characters = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

/** For writing: batches eight times as large were no faster when measured. */
export const writeBatchLimits: BatchLimits = { maxRows: 64, maxCharacters: 32_768 };

/** Whether any row is so long that its texts are written in slices. */
export const hasLongRow = (rows: readonly Row[]): boolean => rows.some(isLong);

function isLong(row: Row): boolean {
  let characters = 0;
  for (const cell of row) if (typeof cell === "string") characters += cell.length;
  return characters > maxSliceLength;
}

/** Puts short pieces together. */
export function* joinPieces(pieces: Iterable<string>): Generator<string> {
  let pending = "";
  for (const piece of pieces) {
    pending += piece;
    if (pending.length < maxSliceLength) continue;
    yield pending;
    pending = "";
  }
  yield pending;
}

/**
 * JSON readers take only one of several members of a name, so the others become `name_2`, `name_3`.
 * @param spell two names are the same if their spellings are
 */
export function distinctNames(columns: readonly string[], spell = (name: string) => name): string[] {
  const names: string[] = [];
  const has = (list: readonly string[], name: string) => list.some((other) => spell(other) === spell(name));
  for (const column of columns) {
    const candidates = [column, ...columns.map((_, n) => `${column}_${n + 2}`)];
    const isTaken = (name: string) =>
      has(names, name) || (spell(name) !== spell(column) && has(columns, name));
    names.push(candidates.find((name) => !isTaken(name)) ?? column);
  }
  return names;
}
