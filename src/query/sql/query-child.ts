/** The program that a query's own process runs: answers messages one by one, until it is killed. */
import { Worker } from "node:worker_threads";
import { answerQuery } from "./answer-query.ts";
import type { QueryAnswer, QueryMessage } from "./query-process.ts";

// Who asked keeps the deadline. Should that process die first, a thread here ends an endless statement all the same.
const graceMillis = 1000;
const endLater = `setTimeout(() => process.kill(process.pid, "SIGKILL"), require("node:worker_threads").workerData)`;

let answers: Generator<QueryAnswer, void> | undefined;

process.on("message", (message: QueryMessage) => {
  if (message.type === "start") {
    new Worker(endLater, { eval: true, workerData: message.timeoutMillis + graceMillis }).unref();
    answers = answerQuery(message);
  }
  const answer = answers?.next().value;
  if (answer) process.send?.(answer);
});
