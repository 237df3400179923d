/** What one query may use. Beyond a limit it fails. */
export interface QueryLimits {
  /** From the start to the last row, including the caller's own time between rows. Default: 60,000. */
  readonly timeoutMillis: number;
  /** Memory of the query's process, sorting and grouping included: nothing goes to disk. Default: 1 GiB. */
  readonly maxMemoryBytes: number;
  /** Length of the statement in UTF-8. Default: 1 MiB. */
  readonly maxSqlBytes: number;
  /** Characters of a text, or bytes of a blob; also of all in a row together, with 8 more for each column. Default: 16 Mi. */
  readonly maxCellLength: number;
  /** Characters of all cells together, with 8 for each number. Default: 1 Gi. */
  readonly maxResultLength: number;
}

const mebibyte = 2 ** 20;

export const defaultLimits: QueryLimits = {
  timeoutMillis: 60_000,
  maxMemoryBytes: 1024 * mebibyte,
  maxSqlBytes: mebibyte,
  maxCellLength: 16 * mebibyte,
  maxResultLength: 1024 * mebibyte,
};
