import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Row } from "../../../exports/formats/table.ts";
import { printResult } from "../../../src/cli/format/data/result.ts";

it("printing reads no more rows than the reader of the output has taken", async () => {
  const done: string[] = [];
  async function* batches(): AsyncGenerator<readonly Row[]> {
    for (const n of [1, 2, 3]) {
      done.push(`read ${n}`);
      yield [[n]];
    }
  }
  async function* rows(): AsyncGenerator<Row> {
    for await (const batch of batches()) yield* batch;
  }
  const result = { columns: ["n"], rows: rows(), batches: batches() };
  const out = async (text: string) => {
    await setImmediate();
    done.push(`taken ${text}`);
  };
  await printResult(result, "json", "guarded", { out, hasReader: () => true, screen: null });
  expect(done).toEqual([
    ...["taken [", "read 1", 'taken \n{"n":1}', "read 2", 'taken ,\n{"n":2}', "read 3", 'taken ,\n{"n":3}'],
    "taken \n]\n",
  ]);
});
