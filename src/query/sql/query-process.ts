import { fork } from "node:child_process";
import { extname, join } from "node:path";
import type { Row } from "../../../exports/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import { compileCacheEnvironment } from "../../platform/compile-cache.ts";
import { QueryError, type QueryErrorCode } from "./errors.ts";

export interface QueryProcess {
  /** @throws QueryError `timeout` or `crashed`, or the signal's reason; then the process has been killed */
  ask(message: QueryMessage): Promise<QueryAnswer>;
  /** Kills the process, which has nothing to save, and returns when it is gone. */
  stop(): Promise<void>;
}

const program = join(import.meta.dirname, `query-child${extname(import.meta.filename)}`);

/**
 * Starts a process of its own for one query, since killing it is the only way to stop a statement. It gets nothing
 * of the environment, where secrets may be, and no arguments.
 */
export function startQueryProcess(timeoutMillis: number, signal?: AbortSignal): QueryProcess {
  const child = fork(program, [], {
    env: compileCacheEnvironment(),
    execArgv: ["--max-old-space-size=512"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const ended = Promise.withResolvers<void>();
  let failure: { readonly reason: unknown } | undefined;
  let asked: PromiseWithResolvers<QueryAnswer> | undefined;

  function fail(reason: unknown): void {
    failure ??= { reason };
    child.kill("SIGKILL");
    asked?.reject(failure.reason);
  }
  function end(how: string): void {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    const hint = "it probably needed too much memory: select fewer or smaller columns";
    fail(new QueryError("crashed", `the query's process ended unexpectedly (${how})`, hint));
    ended.resolve();
  }
  const abort = (): void => fail(signal?.reason);
  const timer = setTimeout(() => {
    const message = `the query took longer than ${timeoutMillis / 1000} s and was stopped`;
    fail(new QueryError("timeout", message, "narrow it down with WHERE or LIMIT, or allow it more time"));
  }, timeoutMillis);

  signal?.addEventListener("abort", abort);
  child.on("message", (answer) => asked?.resolve(answer as QueryAnswer));
  child.on("error", (error) => end(error.message));
  child.on("exit", (code, signalName) => end(signalName ?? `exit code ${code}`));

  return {
    ask(message) {
      if (failure) return Promise.reject(failure.reason);
      asked = Promise.withResolvers();
      child.send(message);
      return asked.promise;
    },
    stop() {
      child.kill("SIGKILL");
      return ended.promise;
    },
  };
}

/** What the process that asks and the query's own process say to each other, strictly in turn: a message, its answer. */

/** For `?`, in order; or for `:name`, `@name` and `$name`, by name. */
export type QueryParameters = readonly Cell[] | Readonly<Record<string, Cell>>;

export interface StartQuery {
  readonly type: "start";
  /** An absolute path. */
  readonly file: string;
  /** An absolute path: another mirror that the statement may read, its tables under `catalogue.`; null for none. */
  readonly catalogue: string | null;
  /** Statements that make the file show its past; none for the present. */
  readonly shownViews: readonly string[];
  readonly sql: string;
  readonly parameters: QueryParameters;
  readonly maxRows: number;
  readonly timeoutMillis: number;
}

export type QueryMessage = StartQuery | { readonly type: "next" };

export type QueryAnswer =
  | { readonly type: "columns"; readonly columns: readonly string[] }
  | { readonly type: "rows"; readonly rows: readonly Row[] }
  | { readonly type: "end"; readonly isCut: boolean }
  | {
      readonly type: "error";
      readonly code: QueryErrorCode;
      readonly message: string;
      readonly hint: string;
    };
