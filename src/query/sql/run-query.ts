/**
 * Queries: a user's own SQL on a mirror. In: a file and one statement, and perhaps another mirror to read beside it. Out: the names of its columns, and rows as they
 * are read. It must not change any file, open another one, or run longer than it may, whatever the statement says; and
 * it must not know what the tables mean.
 */
import { resolve } from "node:path";
import type { Row } from "../../../exports/table.ts";
import { readShownViews } from "../../mirror/past/as-of.ts";
import type { Point } from "../../mirror/points/point.ts";
import { readMirror } from "../../mirror/reader.ts";
import { QueryError } from "./errors.ts";
import {
  type QueryAnswer,
  type QueryMessage,
  type QueryParameters,
  type QueryProcess,
  startQueryProcess,
} from "./query-process.ts";

export interface QueryRequest extends QueryTerms {
  readonly file: string;
  readonly sql: string;
  readonly parameters?: QueryParameters;
}

export interface QueryTerms {
  /** Every table and view as it was then, under its own name; only where the file is a mirror. */
  readonly asOf?: Point;
  /** Unlimited when left out. */
  readonly maxRows?: number;
  /** From the start to the last row, the time that the reader of the rows takes included. Default: 60,000. */
  readonly timeoutMillis?: number;
  /** The file of another mirror that the statement may read too: its tables are `catalogue.brand` and so on, as they are now. */
  readonly catalogue?: string;
  readonly signal?: AbortSignal;
}

export interface QueryResult {
  readonly columns: readonly string[];
  /**
   * Each batch is what was read at once. Either these or `rows` are to be iterated, once; all that is said there holds.
   */
  readonly batches: AsyncIterable<readonly Row[]>;
  /**
   * To be iterated once; no more is read ahead than a batch. The query's process ends with the iteration, or at the
   * deadline when there is none. Text is as stored; blobs are `x'…'` (see `read-cell.ts`).
   * @throws QueryError, or the signal's reason
   */
  readonly rows: AsyncIterable<Row>;
  /** The most rows that it gives. */
  readonly maxRows: number;
  /** Whether there were more rows than `maxRows`; known when the iteration has ended. */
  readonly isCut: boolean;
}

const defaultTimeoutMillis = 60_000;
/** 23 days; a timer of Node's that is set for 25 fires at once. */
const longestTimeoutMillis = 2_000_000_000;

/**
 * Runs one read-only statement in a process of its own.
 * @throws QueryError, or the signal's reason; with a point also MirrorError, PointError
 */
export async function runQuery(request: QueryRequest): Promise<QueryResult> {
  const { file, sql, parameters = [], maxRows = Number.POSITIVE_INFINITY, signal } = request;
  signal?.throwIfAborted();
  const timeoutMillis = Math.min(request.timeoutMillis ?? defaultTimeoutMillis, longestTimeoutMillis);
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
  const first = await askOrStop(child, start);
  let isCut = false;
  async function* readBatches(): AsyncGenerator<readonly Row[]> {
    try {
      for (;;) {
        const answer = await askOrStop(child, { type: "next" });
        if (answer.type === "rows") yield answer.rows;
        else if (answer.type === "end") {
          isCut = answer.isCut;
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

async function askOrStop(child: QueryProcess, message: QueryMessage): Promise<QueryAnswer> {
  try {
    const answer = await child.ask(message);
    if (answer.type === "error") throw new QueryError(answer.code, answer.message, answer.hint);
    return answer;
  } catch (error) {
    await child.stop();
    throw error;
  }
}
