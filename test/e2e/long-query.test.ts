/** Results longer than the limits of call arguments, pipes and memory. */
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callArmoire, runArmoire, startArmoire } from "../support/run-armoire.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const counting = (last: number) =>
  `with recursive n(x) as (values (1) union all select x + 1 from n limit ${last}) select x from n`;
const query = (sql: string, ...more: readonly string[]) => [
  ...["query", sql, "--mirror", fixture.mirror, "--max-rows", "999999999999999", ...more],
];

it("150,000 rows are printed completely in every format", async () => {
  const rowCount = 150_000;
  const [table, csv, json, ndjson] = await Promise.all(
    ["table", "csv", "json", "ndjson"].map((format) =>
      runArmoire(query(counting(rowCount), "--format", format)),
    ),
  );
  for (const result of [table, csv, json, ndjson]) expect(result).toMatchObject({ stderr: "", exitCode: 0 });
  const numbers = Array.from({ length: rowCount }, (_, index) => index + 1);
  expect(table?.stdout.trimEnd().split("\n").slice(2).map(Number)).toEqual(numbers);
  expect(csv?.stdout).toBe(`x\n${numbers.join("\n")}\n`);
  expect(JSON.parse(json?.stdout ?? "")).toEqual(numbers.map((x) => ({ x })));
  expect(ndjson?.stdout).toBe(numbers.map((x) => `{"x":${x}}\n`).join(""));
});

it("an empty result is valid in every format", async () => {
  const nothing = "select 1 as x where false";
  expect(await callArmoire(query(nothing, "--json"))).toMatchObject({ stdout: "[\n]\n", exitCode: 0 });
  expect(await callArmoire(query(nothing, "--format", "csv"))).toMatchObject({ stdout: "x\n", exitCode: 0 });
});

it.each([
  ["csv", /^x\n1\n2\n/],
  ["json", /^\[\n\{"x":1\},\n/],
  ["ndjson", /^\{"x":1\}\n\{"x":2\}\n/],
])(
  "endless %s is printed as it is read, and ends without an error when the reader stops",
  async (format, start) => {
    const { process: child, result } = startArmoire(query(counting(-1), "--format", format));
    let printed = "";
    child.stdout.on("data", (text: string) => {
      printed += text;
    });
    while (printed.length < 1_000_000) await once(child.stdout, "data");
    expect(printed).toMatch(start);
    const reading = expect(result).rejects.toThrow("Premature close");
    child.stdout.destroy();
    const [exitCode] = await once(child, "exit");
    expect(exitCode).toBe(0);
    await reading;
  },
);

it("an error while reading ends the output early with an exit code", async () => {
  const failing = `select abs(case when x > 5000 then -9223372036854775808 else x end) from (${counting(9999)})`;
  const { stdout, stderr, exitCode } = await runArmoire(query(failing, "--json"));
  expect({ stderr, exitCode }).toEqual({ stderr: expect.stringContaining("integer overflow"), exitCode: 1 });
  expect(() => JSON.parse(stdout)).toThrow(SyntaxError);
});
