/**
 * Runs the user's own SQL on a mirror, in a process of its own. Whatever the statement is, it cannot change a file, open
 * another one, or run past its deadline. This file knows nothing of the tables.
 */
import { resolve } from "node:path";
import type { Row } from "../../../exports/table.ts";
import { readShownViews } from "../../mirror/past/as-of.ts";
import type { Point } from "../../mirror/points/point.ts";
import { readMirror } from "../../mirror/reader.ts";
import { QueryError } from "./errors.ts";
import {
  type QueryMessage,
  type QueryParameters,
  type QueryProcess,
  type QueryResponse,
  startQueryProcess,
} from "./query-process.ts";

export interface QueryRequest extends QueryOptions {
  readonly file: string;
  readonly sql: string;
  readonly parameters?: QueryParameters;
}

export interface QueryOptions {
  /** Shows every table and view as of this point. Only for mirrors. */
  readonly asOf?: Point;
  /** Default: unlimited. */
  readonly maxRows?: number;
  /** From the start to the last row, including the caller's own time between rows. Default: 60,000. */
  readonly timeoutMillis?: number;
  /** The file of another mirror, readable as `catalogue.brand` and so on, in its present state. */
  readonly catalogue?: string;
  readonly signal?: AbortSignal;
}

export interface QueryResult {
  readonly columns: readonly string[];
  /** The rows in batches. Iterate either these or `rows`, once. */
  readonly batches: AsyncIterable<readonly Row[]>;
  /**
   * At most one batch is read ahead. The process ends with the iteration, or at the deadline. Text is as stored; blobs are
   * `x'…'` (see `readCell`).
   * @throws QueryError, or the signal's reason
   */
  readonly rows: AsyncIterable<Row>;
  /** At most this many rows. */
  readonly maxRows: number;
  /** Whether there were more rows than `maxRows`; known after the iteration. */
  readonly isCut: boolean;
}

const defaultTimeoutMillis = 60_000;
/** 23 days; a timer of Node.js for 25 days fires at once. */
const maxTimeoutMillis = 2_000_000_000;

/** @throws QueryError, or the signal's reason; with `asOf` also MirrorError, PointError */
export async function runQuery(request: QueryRequest): Promise<QueryResult> {
  const { file, sql, parameters = [], maxRows = Number.POSITIVE_INFINITY, signal } = request;
  signal?.throwIfAborted();
  const timeoutMillis = Math.min(request.timeoutMillis ?? defaultTimeoutMillis, maxTimeoutMillis);
  const shownViews = request.asOf === undefined ? [] : viewsAsOf(file, request.asOf);
  const child = startQueryProcess(timeoutMillis, signal);
  const start = {
    type: "start",
    file: resolve(file),
    catalogue: request.catalogue === undefined ? null : resolve(request.catalogue),
    shownViews,
    sql,
    parameters,
    maxRows,
    timeoutMillis,
  } as const;
  const first = await requestOrStop(child, start);
  let isCut = false;
  async function* readBatches(): AsyncGenerator<readonly Row[]> {
    try {
      for (;;) {
        const response = await requestOrStop(child, { type: "next" });
        if (response.type === "rows") yield response.rows;
        else if (response.type === "end") {
          isCut = response.isCut;
          return;
        }
      }
    } finally {
      await child.stop();
    }
  }
  async function* readRows(): AsyncGenerator<Row> {
    for await (const batch of batches) yield* batch;
  }
  const batches = readBatches();
  return {
    columns: first.type === "columns" ? first.columns : [],
    batches,
    rows: readRows(),
    maxRows,
    get isCut() {
      return isCut;
    },
  };
}

const viewsAsOf = (file: string, point: Point): readonly string[] =>
  readMirror(file, ({ db }) => readShownViews(db), point);

async function requestOrStop(child: QueryProcess, message: QueryMessage): Promise<QueryResponse> {
  try {
    const response = await child.request(message);
    if (response.type === "error") throw new QueryError(response.code, response.message, response.hint);
    return response;
  } catch (error) {
    await child.stop();
    throw error;
  }
}
