import { requireNumbersFrom } from "../../platform/errors.ts";

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

/** 23 days; a timer of Node.js for 25 days fires at once. */
const maxTimeoutMillis = 2_000_000_000;

/** @throws RangeError for a limit that is no number */
export function resolveLimits(given: Partial<QueryLimits>): QueryLimits {
  const { timeoutMillis, maxMemoryBytes, maxSqlBytes, maxCellLength, maxResultLength } = defaultLimits;
  const limits = {
    timeoutMillis: Math.min(given.timeoutMillis ?? timeoutMillis, maxTimeoutMillis),
    maxMemoryBytes: given.maxMemoryBytes ?? maxMemoryBytes,
    maxSqlBytes: given.maxSqlBytes ?? maxSqlBytes,
    maxCellLength: given.maxCellLength ?? maxCellLength,
    maxResultLength: given.maxResultLength ?? maxResultLength,
  };
  requireNumbersFrom(0, limits);
  return limits;
}
