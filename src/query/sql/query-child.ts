/** The program of a query's process: responds to messages one by one until it is killed. */
import { flushCompileCache } from "node:module";
import { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { storeCompiled } from "../../platform/script-cache.ts";
import { executeQuery } from "./execute-query.ts";
import type { QueryLimits } from "./limits.ts";
import { outOfMemorySignal, type QueryMessage, type QueryResponse, watchMillis } from "./query-process.ts";

const graceMillis = 1000;

/**
 * A thread beside the statement, which blocks its own, where the parent cannot watch this process. It ends the process if
 * that takes too much memory: SQLite's own limit has no effect in the build of better-sqlite3. The parent enforces the
 * deadline; if the parent dies first, this thread ends an endless statement.
 */
const watchdog = `
  const { deadlineMillis, maxMemoryBytes, parentId, outOfMemorySignal, watchMillis } = require("node:worker_threads").workerData;
  const deadline = performance.now() + deadlineMillis;
  setInterval(() => {
    if (process.memoryUsage.rss() > maxMemoryBytes) process.kill(process.pid, outOfMemorySignal);
    if (performance.now() > deadline || process.ppid !== parentId) process.kill(process.pid, "SIGKILL");
  }, watchMillis);
`;

// Loads SQLite, which a process that waits for its query then has.
new Database(":memory:").close();

// The parent kills this process, which would then lose what it has compiled.
flushCompileCache();

function startWatchdog({ timeoutMillis, maxMemoryBytes }: QueryLimits): void {
  const deadlineMillis = timeoutMillis + graceMillis;
  const parentId = process.ppid;
  const workerData = { deadlineMillis, maxMemoryBytes, parentId, outOfMemorySignal, watchMillis };
  new Worker(watchdog, { eval: true, workerData }).unref();
}

let responses: Generator<QueryResponse, void> | undefined;

process.on("message", (message: QueryMessage) => {
  if (message.type === "start") {
    if (message.watchesItself) startWatchdog(message.limits);
    responses = executeQuery(message);
  }
  const response = responses?.next().value;
  // The parent kills this process once it has all rows.
  if (response && response.type !== "columns") storeCompiled();
  if (response) process.send?.(response);
});
