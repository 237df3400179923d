/** Queries in this process, for tests whose subject is not the process of a query: starting one takes longer than most queries. */
import { type QuestionRequest, runQuestion } from "../../../src/query/questions/run-question.ts";
import { executeQuery } from "../../../src/query/sql/execute-query.ts";
import type { QueryResponse, startQueryProcess } from "../../../src/query/sql/query-process.ts";
import { type QueryRequest, runQuery } from "../../../src/query/sql/run-query.ts";

const startProcess: typeof startQueryProcess = () => {
  let responses: Generator<QueryResponse, void> | undefined;
  return {
    async request(message) {
      if (message.type === "start") responses = executeQuery(message);
      const response = responses?.next().value;
      if (!response) throw new Error("The query has ended.");
      return response;
    },
    async stop() {
      responses?.return();
    },
  };
};

export const runQueryHere = (request: QueryRequest) => runQuery(request, startProcess);

export const runQuestionHere = (request: QuestionRequest) => runQuestion(request, startProcess);
