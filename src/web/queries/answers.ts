/**
 * Runs statements and questions for pages. In: what to run. Out: its first rows, or all of them while they are read. Each runs in
 * a process of its own, which ends with the answer, at a limit, or when the browser goes away.
 */
import type { Row } from "../../../exports/formats/table.ts";
import type { ArmoireError } from "../../platform/errors.ts";
import { QueryError } from "../../query/sql/errors.ts";
import type { StartQueryProcess } from "../../query/sql/query-process.ts";
import type { QueryOptions, QueryResult } from "../../query/sql/run-query.ts";
import { WebError } from "../errors.ts";
import type { SpareProcess } from "./spare-process.ts";

/** Starts a statement with the given limits, in a process that `start` starts. */
export type Ask<Result extends QueryResult = QueryResult> = (
  options: QueryOptions,
  start: StartQueryProcess,
) => Promise<Result>;

export interface Answers {
  /** A statement will probably follow. */
  prepare(): void;
  /**
   * The first rows.
   * @throws WebError `busy`; what `ask` throws
   */
  readFirst<Result extends QueryResult>(ask: Ask<Result>, maxRows: number): Promise<FirstRows<Result>>;
  /**
   * All rows, for a download. The caller closes it.
   * @throws as `readFirst`
   */
  open(ask: Ask): Promise<OpenAnswer>;
}

export interface FirstRows<Result extends QueryResult = QueryResult> {
  readonly rows: readonly Row[];
  /** After its last row. */
  readonly result: Result;
}

export interface OpenAnswer extends Pick<QueryResult, "columns" | "batches" | "tables"> {
  close(): void;
}

/** Each may take a processor, and the memory that `query` may. */
const maxStatements = 4;
/** A browser that waits longer gives up; so does the socket, on which nothing moves. */
const pageMillis = 20_000;
/** As `armoire query`. */
const downloadMillis = 60_000;
export const maxDownloadedRows = 100_000;
/** For the number of rows that are not shown. */
const countMillis = 300;

/** At most so many statements at a time, of all pages together. */
export function createStatementSlots(most = maxStatements): { take(): () => void } {
  let taken = 0;
  return {
    take() {
      if (taken >= most) {
        const message = `${most} statements are running, which is the most at the same time.`;
        throw new WebError("busy", message, "Try again in a moment.");
      }
      taken += 1;
      let isTaken = true;
      return () => {
        if (isTaken) taken -= 1;
        isTaken = false;
      };
    },
  };
}

/** @param signal of the request: aborted when the browser goes away */
export function createAnswers(
  slots: ReturnType<typeof createStatementSlots>,
  spare: Omit<SpareProcess, "close">,
  signal: AbortSignal,
): Answers {
  return {
    prepare: spare.prepare,
    async readFirst(ask, maxRows) {
      const release = slots.take();
      try {
        const result = await ask({ timeoutMillis: pageMillis, maxRows, countMillis, signal }, spare.start);
        const rows: Row[] = [];
        for await (const batch of result.batches) rows.push(...batch);
        return { rows, result };
      } finally {
        release();
        spare.prepare();
      }
    },
    async open(ask) {
      const release = slots.take();
      const closed = new AbortController();
      // Before the first rows, an error still has a page of its own.
      const timer = setTimeout(() => closed.abort(tooLong()), pageMillis);
      try {
        const limits = { timeoutMillis: downloadMillis, maxRows: maxDownloadedRows };
        const ended = AbortSignal.any([signal, closed.signal]);
        const { columns, batches, tables } = await ask({ ...limits, signal: ended }, spare.start);
        const iterator = batches[Symbol.asyncIterator]();
        const first = await iterator.next();
        return {
          ...{ columns, tables },
          batches: from(first, iterator),
          close() {
            closed.abort();
            release();
          },
        };
      } catch (error) {
        release();
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function* from<Item>(first: IteratorResult<Item>, rest: AsyncIterator<Item>): AsyncGenerator<Item> {
  for (let result = first; !result.done; result = await rest.next()) yield result.value;
}

const tooLong = () =>
  new QueryError("timeout", `The query took longer than ${pageMillis / 1000} s and was stopped.`);

/** A page cannot raise the limit of time, and has fields for parameters. */
export function hintOnPage({ code, hint }: Pick<ArmoireError, "code" | "hint">): string {
  if (code === "timeout") return "Narrow it with WHERE or LIMIT. `armoire query` can wait longer.";
  return code === "parameters" ? "Write each parameter as :NAME; the form then has a field for it." : hint;
}
