/** What a column may hold once read: text may contain any UTF-16, lone surrogates included. */
export type Cell = string | number | bigint | null;

export type Row = readonly Cell[];

export interface ExportTable {
  /** Becomes a file's name: lower-case letters and underscores. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Ordered by key, as many cells a row as there are columns. Asked once for each format; gives the same rows each time. */
  rows(): Iterable<Row>;
}
