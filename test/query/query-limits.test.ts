/** What a statement may use: memory, disk, and the size of its text and result. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { printResult } from "../../src/cli/format/data/result.ts";
import { defaultLimits } from "../../src/query/sql/limits.ts";
import {
  forkQueryProcess,
  type StartQueryProcess,
  startQueryProcess,
} from "../../src/query/sql/query-process.ts";
import { type QueryRequest, runQuery } from "../../src/query/sql/run-query.ts";
import { fakeIo } from "../cli/support/fake-io.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { collectRows } from "./support/collect-rows.ts";
import { makeMirrorLikeFile } from "./support/mirror-like-file.ts";

let file = "";

beforeAll(async () => {
  const temporary = await temporaryFolder();
  file = makeMirrorLikeFile(temporary.path);
  return () => temporary[Symbol.asyncDispose]();
});

async function query(sql: string, options: Partial<QueryRequest> = {}) {
  return await collectRows((await runQuery({ file, sql, ...options })).rows);
}

const numbers = (last: number) =>
  `(with recursive n(x) as (values (1) union all select x + 1 from n limit ${last}) select x from n)`;

const sorting = `select x from (select x, randomblob(10000) as r from ${numbers(100_000)}) order by r`;

it.each<[string, string, StartQueryProcess]>([
  [
    "one large text",
    `select length(group_concat(hex(zeroblob(500000)), '')) from ${numbers(900)}`,
    startQueryProcess,
  ],
  ["sorting", sorting, startQueryProcess],
  ["sorting, watched by its own process", sorting, (...how) => forkQueryProcess(null).begin(...how)],
  [
    "a query within the query",
    `with t as materialized (select randomblob(10000) as r from ${numbers(100_000)}) select count(*) from t a, t b where a.r < b.r`,
    startQueryProcess,
  ],
])("a statement that needs too much memory is stopped: %s", async (_case, sql, start) => {
  const reading = async () => {
    await collectRows((await runQuery({ file, sql, maxMemoryBytes: 200 * 2 ** 20 }, start)).rows);
  };
  await expect(reading()).rejects.toMatchObject({
    name: "QueryError",
    code: "memory",
    message: "The query needed more than 200 MiB of memory and was stopped.",
    hint: "Select fewer or smaller columns, or sort and group fewer rows.",
  });
});

it("a row of many large cells is refused, not sent", async () => {
  const cells = Array.from({ length: 5 }, () => "hex(zeroblob(1000))").join(", ");
  await expect(query(`select ${cells}`, { maxCellLength: 8000 })).rejects.toMatchObject({
    code: "too-large",
    message: "A row's length is 10000, and at most 8040 is allowed.",
  });
});

it("a cell beyond the limit is refused", async () => {
  await expect(query("select 'abcdef'", { maxCellLength: 5 })).rejects.toMatchObject({
    code: "too-large",
    message: "A cell's length is 6, and at most 5 is allowed.",
  });
});

it("a result beyond the limit ends at the limit", async () => {
  const rows: unknown[] = [];
  const result = await runQuery({ file, sql: `select x from ${numbers(100_000)}`, maxResultLength: 80_000 });
  const reading = (async () => {
    for await (const row of result.rows) rows.push(row);
  })();
  await expect(reading).rejects.toMatchObject({
    code: "too-large",
    message: "The result has more than 80000 characters, the most that is allowed.",
  });
  expect(rows.length).toBeLessThanOrEqual(10_000);
});

it("a statement beyond the limit is refused", async () => {
  const sql = `select '${"é".repeat(600_000)}'`;
  await expect(query(sql)).rejects.toMatchObject({
    code: "too-long",
    message: "The statement is longer than 1048576 bytes, the most that is allowed.",
  });
  expect(await query(sql, { maxSqlBytes: 2_000_000 })).toHaveLength(1);
});

it("a statement uses no temporary files", async () => {
  expect(await query("pragma temp_store")).toEqual([[2]]);
});

it("a table shows the beginning of large cells, and all of others", async () => {
  const io = fakeIo();
  // Together larger than a table may be.
  const sql = `select x, case when x = 1 then 'all' else hex(zeroblob(5000000)) end as y from ${numbers(5)}`;
  await printResult(await runQuery({ file, sql }), "table", "guarded", io);
  const lines = io.written.out.split("\n");
  expect(lines.filter((line) => line.endsWith(`  ${"0".repeat(999)}…`))).toHaveLength(4);
  expect(lines.filter((line) => line.endsWith("  all"))).toHaveLength(1);
});

it("a result that is too large for a table is refused with the formats that have no limit", async () => {
  const printing = printResult(
    await runQuery({ file, sql: `select hex(zeroblob(450)) from ${numbers(40_000)}` }),
    "table",
    "guarded",
    fakeIo(),
  );
  await expect(printing).rejects.toMatchObject({
    message: "The result is too large for a table: more than 33554432 characters.",
    hint: "Use --format csv, json or ndjson, or select fewer rows.",
  });
});

it("a query whose process never begins is stopped at its deadline, and says so", async () => {
  await using folder = await temporaryFolder();
  const program = join(folder.path, "never");
  writeFileSync(program, "#!/bin/sh\nexec sleep 600\n", { mode: 0o700 });
  const begun = forkQueryProcess(program).begin({ ...defaultLimits, timeoutMillis: 200 });
  await expect(begun.request({ type: "next" })).rejects.toMatchObject({
    message: "The query took longer than 0.2 s and was stopped.",
    hint: expect.stringMatching(/^Its process has not begun\. .*ulimit -u/),
  });
  await begun.stop();
});
