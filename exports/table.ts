import type { Cell } from "../schema/fields.ts";

/** As read, where a whole number may be a bigint or, where that is exact, a number. */
export type Row = readonly Cell[];

export interface ExportTable {
  /** Becomes a file's name: lower-case letters and underscores. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Ordered by key, as many cells a row as there are columns. Asked once for each format; gives the same rows each time. */
  rows(): Iterable<Row>;
}

/** A table's text in one format, bit by bit as its rows become known: the head, any number of batches in order, the tail. */
export interface TableText {
  readonly head: string;
  addRows(batch: readonly Row[]): string;
  readonly tail: string;
}

export interface BatchLimits {
  readonly maxRows: number;
  /** Of UTF-16; a batch ends with the row that reaches it. */
  readonly maxCharacters: number;
}

/** About what a number or a separator takes, so that wide rows without text end a batch as well. */
const charactersPerCell = 8;

/** Groups rows so that work is done per batch and memory stays small, also where a single row holds a megabyte. */
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

/** For writing: eight times larger batches were no faster when measured. */
export const writeBatchLimits: BatchLimits = { maxRows: 64, maxCharacters: 32_768 };
