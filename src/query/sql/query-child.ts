/** The program of a query's process: responds to messages one by one until it is killed. */
import { Worker } from "node:worker_threads";
import { executeQuery } from "./execute-query.ts";
import type { QueryMessage, QueryResponse } from "./query-process.ts";

// The parent enforces the deadline. If it dies first, this thread ends an endless statement.
const graceMillis = 1000;
const killLater = `setTimeout(() => process.kill(process.pid, "SIGKILL"), require("node:worker_threads").workerData)`;

let responses: Generator<QueryResponse, void> | undefined;

process.on("message", (message: QueryMessage) => {
  if (message.type === "start") {
    new Worker(killLater, { eval: true, workerData: message.timeoutMillis + graceMillis }).unref();
    responses = executeQuery(message);
  }
  const response = responses?.next().value;
  if (response) process.send?.(response);
});
