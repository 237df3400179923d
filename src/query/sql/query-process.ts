/**
 * The process of one query, and its messages: they alternate strictly, one response for each. Only killing a process can
 * stop a running statement.
 */
import { fork } from "node:child_process";
import { extname, join } from "node:path";
import type { Row } from "../../../exports/formats/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import { compileCacheEnvironment } from "../../platform/compile-cache.ts";
import { endProcess, findSetpriv, readMemoryBytes } from "../../platform/watched-processes.ts";
import { QueryError, type QueryErrorCode } from "./errors.ts";
import type { QueryLimits } from "./limits.ts";

/** A list for `?`, in order; or values by name for `:name`, `@name` and `$name`. */
export type QueryParameters = readonly Cell[] | Readonly<Record<string, Cell>>;

export interface StartQuery {
  readonly type: "start";
  /** An absolute path. */
  readonly file: string;
  /** The absolute path of another mirror, attached as `catalogue`; null for none. */
  readonly catalogue: string | null;
  /** Statements that create the views of an earlier point; none for the present. */
  readonly shownViews: readonly string[];
  readonly sql: string;
  readonly parameters: QueryParameters;
  readonly maxRows: number;
  readonly limits: QueryLimits;
  /** Whether the process watches its own memory, and ends with its parent by itself. Default: false. */
  readonly watchesItself?: boolean;
}

/** Names of the stored tables that a statement reads, by schema. */
export interface TablesRead {
  readonly main: readonly string[];
  readonly catalogue: readonly string[];
}

export type QueryMessage = StartQuery | { readonly type: "next" };

export type QueryResponse =
  | { readonly type: "columns"; readonly columns: readonly string[]; readonly tablesRead: TablesRead }
  | { readonly type: "rows"; readonly rows: readonly Row[] }
  | { readonly type: "end"; readonly isCut: boolean }
  | { readonly type: "total"; readonly rows: number }
  | {
      readonly type: "error";
      readonly code: QueryErrorCode;
      readonly message: string;
      readonly hint: string;
    };

export interface QueryProcess {
  /** @throws QueryError `timeout`, `memory` or `crashed`, or the signal's reason; then the process is killed */
  request(message: QueryMessage): Promise<QueryResponse>;
  /** Kills the process, which has nothing to save, and waits for its end. */
  stop(): Promise<void>;
}

const program = join(import.meta.dirname, `query-child${extname(import.meta.filename)}`);

/** Between two looks at the memory of a query's process. */
export const watchMillis = 10;

/** SIGTERM is the child's own watchdog's (`query-child.ts`), SIGABRT that of V8 at the limit of its heap. */
export const outOfMemorySignal = "SIGTERM";
const outOfMemorySignals: readonly string[] = [outOfMemorySignal, "SIGABRT"];

function outOfMemory(maxMemoryBytes: number): QueryError {
  return new QueryError(
    "memory",
    `The query needed more than ${Math.round(maxMemoryBytes / 2 ** 20)} MiB of memory and was stopped.`,
    "Select fewer or smaller columns, or sort and group fewer rows.",
  );
}

function crashed(cause: string): QueryError {
  const hint = "It probably ran out of memory. Select fewer or smaller columns.";
  return new QueryError("crashed", `The query's process ended unexpectedly (${cause}).`, hint);
}

function notStarted(cause: string): QueryError {
  const hint = "End other programs, or raise the limits of open files and processes (ulimit).";
  return new QueryError("crashed", `The query's process could not be started (${cause}).`, hint);
}

const slowHint = "Narrow it with WHERE or LIMIT, or allow it more time.";
/** Node.js waits for ever where it cannot start its own threads. */
const unstartedHint =
  "Its process has not begun. End other programs, raise the limit of processes (ulimit -u), or allow it more time.";

export type StartQueryProcess = (limits: QueryLimits, signal?: AbortSignal) => QueryProcess;

export const startQueryProcess: StartQueryProcess = (limits, signal) =>
  forkQueryProcess().begin(limits, signal);

/** A process whose query has not begun. */
export interface WaitingProcess {
  /** To be called once. */
  begin: StartQueryProcess;
  /** Whether it can still begin. */
  isAlive(): boolean;
  stop(): Promise<void>;
}

/**
 * The process gets no arguments and nothing of the environment, which may hold secrets.
 * @param setpriv the path of that program, with which this process watches the memory of the other one, and the kernel ends
 * it with this one; null for none, so that it watches itself
 */
export function forkQueryProcess(setpriv = findSetpriv()): WaitingProcess {
  const nodeFlags = ["--max-old-space-size=512"];
  const child = fork(program, [], {
    env: compileCacheEnvironment(),
    ...(setpriv === null
      ? { execArgv: nodeFlags }
      : { execPath: setpriv, execArgv: ["--pdeathsig", "KILL", process.execPath, ...nodeFlags] }),
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const ended = Promise.withResolvers<void>();
  let failure: { readonly reason: unknown } | undefined;
  let pending: PromiseWithResolvers<QueryResponse> | undefined;

  let hasResponded = false;
  let maxMemoryBytes = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let stopListening = (): void => {};

  function fail(reason: unknown): void {
    failure ??= { reason };
    endProcess(child, "SIGKILL");
    pending?.reject(failure.reason);
  }
  function onEnd(error: QueryError): void {
    clearTimeout(timer);
    stopListening();
    fail(error);
    ended.resolve();
  }

  /** The child computes only while a request is pending, and this process waits for it then. */
  function watchMemory(): () => void {
    if (setpriv === null) return () => {};
    const watch = setInterval(() => {
      const bytes = child.pid === undefined ? 0 : readMemoryBytes(child.pid);
      if (bytes > maxMemoryBytes) fail(outOfMemory(maxMemoryBytes));
    }, watchMillis);
    return () => clearInterval(watch);
  }

  /** Without a pending request, the child does not keep this process alive. */
  function keepAlive(isNeeded: boolean): void {
    for (const handle of [child, child.channel, timer]) isNeeded ? handle?.ref() : handle?.unref();
  }

  child.on("message", (response) => {
    hasResponded = true;
    pending?.resolve(response as QueryResponse);
  });
  child.on("error", ({ message }) => onEnd(child.pid === undefined ? notStarted(message) : crashed(message)));
  child.on("exit", (code, signalName) => {
    const cause = signalName ?? `exit code ${code}`;
    onEnd(outOfMemorySignals.includes(cause) ? outOfMemory(maxMemoryBytes) : crashed(cause));
  });
  keepAlive(false);

  const stop: WaitingProcess["stop"] = () => {
    keepAlive(true);
    endProcess(child, "SIGKILL");
    return ended.promise;
  };
  return {
    stop,
    isAlive: () => failure === undefined,
    begin(limits, signal) {
      const { timeoutMillis } = limits;
      maxMemoryBytes = limits.maxMemoryBytes;
      timer = setTimeout(() => {
        const message = `The query took longer than ${timeoutMillis / 1000} s and was stopped.`;
        fail(new QueryError("timeout", message, hasResponded ? slowHint : unstartedHint));
      }, timeoutMillis);
      const onAbort = (): void => fail(signal?.reason);
      signal?.addEventListener("abort", onAbort);
      stopListening = () => signal?.removeEventListener("abort", onAbort);
      return {
        stop,
        request(message) {
          if (failure) return Promise.reject(failure.reason);
          pending = Promise.withResolvers();
          keepAlive(true);
          const stopWatching = watchMemory();
          // Without a process, its error rejects the promise.
          if (child.pid !== undefined)
            child.send(message.type === "start" ? { ...message, watchesItself: setpriv === null } : message);
          return pending.promise.finally(() => {
            stopWatching();
            keepAlive(false);
          });
        },
      };
    },
  };
}
