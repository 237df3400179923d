/** Tools that run SQL, the user's own or that of a named question, in the process of `armoire query`. */
import { z } from "zod";
import type { Cell } from "../../../schema/fields.ts";
import { gapsOf } from "../../mirror/runs/describe-coverage.ts";
import { areasOf } from "../../query/questions/question.ts";
import { listQuestions } from "../../query/questions/questions.ts";
import { runQuestion } from "../../query/questions/run-question.ts";
import { type QueryResult, runQuery } from "../../query/sql/run-query.ts";
import { limitedList } from "../answer.ts";
import { type McpMirror, tool } from "../tool.ts";
import { asOf, limitOf, readPoint } from "./inputs.ts";

/** Below the 60 seconds that clients usually wait, and less memory than on the command line, where a person waits. */
const limits = { timeoutMillis: 30_000, maxMemoryBytes: 512 * 2 ** 20, maxCellLength: 2 ** 20 };

const maxRows = limitOf(1000, 100);

export const query = tool(
  {
    name: "query",
    title: "Run SQL",
    description:
      "Runs one read-only SELECT of SQLite on the mirror. The tool tables describes the tables; those that end in _current " +
      "leave out what is gone. envelope(href) is the JSON that the service sent for a resource.",
    input: z.strictObject({
      sql: z.string().describe("one SELECT statement"),
      parameters: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
        .optional()
        .describe("the values of :NAME in the SQL, by NAME"),
      max_rows: maxRows,
      as_of: asOf,
    }),
  },
  async ({ sql, parameters = {}, max_rows, as_of }, mirror, signal) => {
    const cells = Object.entries(parameters).map(([name, value]) => [name, toCell(value)] as const);
    const request = { ...limitsOf(mirror, max_rows, as_of), signal, sql };
    return await answerOf(await runQuery({ ...request, parameters: Object.fromEntries(cells) }));
  },
);

export const questions = tool(
  {
    name: "questions",
    title: "Named questions",
    description:
      "Without a name, lists the prepared questions, such as the sizes of a brand, with their options. With a name, answers " +
      "that one.",
    input: z.strictObject({
      name: z.string().optional().describe("the question to answer"),
      options: z
        .record(z.string(), z.union([z.string(), z.number()]))
        .optional()
        .describe("the values of its options, by name"),
      max_rows: maxRows,
      as_of: asOf,
    }),
  },
  async ({ name, options = {}, max_rows, as_of }, mirror, signal) => {
    if (name === undefined) return { questions: listQuestions().map(describeQuestion) };
    const request = { ...limitsOf(mirror, max_rows, as_of), signal, question: name, options };
    const result = await runQuestion(request);
    const answer = await answerOf(result);
    return answer.rows.length === 0 && result.ifEmpty !== null ? { ...answer, note: result.ifEmpty } : answer;
  },
);

function limitsOf({ file, catalogue }: McpMirror, rows: number, as_of: string | undefined) {
  const point = readPoint(as_of);
  return { ...limits, file, maxRows: rows, ...(catalogue && { catalogue }), ...(point && { asOf: point }) };
}

/** Rows as lists in the order of the columns. A process whose rows are not all read ends with the iteration. */
async function answerOf(result: QueryResult) {
  const { columns, rows, coverage } = result;
  const list = limitedList(Number.POSITIVE_INFINITY);
  let isFull = false;
  for await (const row of rows) {
    isFull = !list.add(row);
    if (isFull) break;
  }
  return {
    columns,
    rows: list.items,
    isCut: isFull || result.isCut,
    gaps: [coverage.mirror, coverage.catalogue].flatMap((one) => gapsOf(one)),
  };
}

const describeQuestion = (question: ReturnType<typeof listQuestions>[number]) => ({
  name: question.name,
  title: question.title,
  mirrors: areasOf(question),
  options: question.options.map(({ name, about, isRequired, choices }) => ({
    ...{ name, about, isRequired },
    ...(choices && { choices }),
  })),
});

/** Whole numbers and truth values as SQLite's integers. */
function toCell(value: string | number | boolean | null): Cell {
  if (typeof value === "boolean") return BigInt(value);
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
}
