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
