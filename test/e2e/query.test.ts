/** `armoire query`: the sources of statements, and questions. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import { listQuestions, type Question, type QuestionRequest, runQuestion } from "../../src/index.ts";
import { collectRows } from "../query/support/collect-rows.ts";
import { armoireProgram } from "../support/armoire-program.ts";
import { callArmoire } from "../support/run-armoire.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** The output of a command that must succeed without messages. */
async function query(...args: readonly string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await callArmoire(["query", ...args, "--mirror", fixture.mirror]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout;
}

const sql = "\ufeff-- how many\nselect typeof(:n) as type, :n + 1 as next, 'ä' as text;\n";
const expected = '{"type":"integer","next":6,"text":"ä"}\n';

it("a statement is read from a file, its parameters from the command line", async () => {
  const file = join(fixture.folder, "how-many.sql");
  writeFileSync(file, sql);
  expect(await query("--file", file, "-p", "n=5", "--format", "ndjson")).toBe(expected);
});

it("a statement is read from standard input", () => {
  const args = [
    "query",
    "--file",
    "-",
    "--parameter",
    "n=5",
    "--format",
    "ndjson",
    "--mirror",
    fixture.mirror,
  ];
  expect(execFileSync(process.execPath, [armoireProgram, ...args], { input: sql, encoding: "utf8" })).toBe(
    expected,
  );
});

it("a table without rows says so on standard error, also in a pipe, and no other format does", async () => {
  const run = (...args: readonly string[]) =>
    callArmoire(["query", "select name from brand where 0", ...args, "--mirror", fixture.mirror]);
  expect(await run()).toMatchObject({ stdout: expect.stringMatching(/^name\n/), stderr: "No rows.\n" });
  expect((await run("--quiet")).stderr).toBe("");
  expect(await run("--json")).toMatchObject({ stdout: "[\n]\n", stderr: "" });
});

it("a question runs by name, with the limits and formats of any query", async () => {
  const [brand] = [...fixture.sandbox.truth()].filter(({ kind }) => kind === "brand");
  const { slug, name } = brand?.body.body ?? {};
  const rows = JSON.parse(await query("@brand-models", "--brand", String(slug), "--json"));
  expect(rows).toMatchObject([{ name, href: brand?.url }]);
  const all = await query("@top-brands", "--limit=6", "--format", "ndjson");
  expect(all).toMatch(/^(\{"name":.*\}\n){6}$/);
});

it("a query of an account's tables in a catalogue names --account", async () => {
  const count = ["query", "select count(*) from bra", "--mirror", fixture.mirror];
  const { stderr } = await callArmoire(count);
  expect(stderr).toBe("A mirror of the catalogue has no rows of bra; --account NAME has a user's.\n");
  expect((await callArmoire([...count, "--quiet"])).stderr).toBe("");
});

it("a query of relations that no sync followed names --follow", async () => {
  const about = /^The table relation is empty: .*`armoire sync --follow related/m;
  const count = ["query", "select count(*) from relation", "--mirror", fixture.mirror];
  expect((await callArmoire(count)).stderr).toMatch(about);
  expect((await callArmoire([...count, "--quiet"])).stderr).toBe("");
  expect((await callArmoire(["query", "@related-models", "--mirror", fixture.mirror])).stderr).toMatch(about);
});

it("the program's own table of links is read without a remark on completeness", async () => {
  expect(await query("select count(*) > 0 as found from _link", "--format", "csv")).toBe("found\n1\n");
});

describe("row limits", () => {
  const letter =
    "select lower(substr(name, 1, 1)) as letter from model group by 1 having count(*) > 1 limit 1";
  it.each([
    [
      "a question",
      ["@top-brands", "--limit", "5"],
      /^(5 of \d+ rows|Only the first 5) are shown; --limit raises the limit\.\n$/,
    ],
    [
      "one as CSV",
      ["@top-brands", "--limit=5", "--format=csv"],
      /^(5 of \d+ rows|Only the first 5) are shown; --limit raises the limit\.\n$/,
    ],
    ["one with all rows", ["@top-brands", "--limit", "6"], /^$/],
    [
      "rows",
      ["@brand-models", "--max-rows", "5"],
      /^(5 of \d+ rows|Only the first 5) are shown; --max-rows raises the limit\.\n$/,
    ],
    ["rows, quietly", ["@brand-models", "--max-rows", "5", "--quiet"], /^$/],
  ])("only a cut result has a notice: %s", async (_case, args, stderr) => {
    const result = await callArmoire(["query", ...args, "--mirror", fixture.mirror]);
    expect(result).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(stderr) });
    expect(result.stdout).not.toContain("Only");
  });

  it("a question without rows since a point says so on stderr only", async () => {
    const newest = ["query", "@newest", "--since", "latest", "--mirror", fixture.mirror, "--format"];
    expect(await callArmoire([...newest, "ndjson"])).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: expect.stringMatching(
        /^Nothing since "latest" \(20.* UTC\)\. The latest run, run \d+, had ended by then\.\n$/,
      ),
    });
    const csv = await callArmoire([...newest, "csv"]);
    expect(csv.stderr).toMatch(/^Nothing since /);
    expect((await callArmoire([...newest, "table", "--quiet"])).stderr).toBe("");
    const some = await callArmoire([
      "query",
      "@newest",
      "--since",
      "2020",
      "--limit",
      "1000",
      "--mirror",
      fixture.mirror,
    ]);
    expect(some.stderr).toBe("");
  });

  it("a cut search has a notice on stderr only", async () => {
    const [found] = JSON.parse(await query(letter, "--json")) as { letter: string }[];
    const search = ["search", found?.letter ?? "", "--kind=model", "--json", "--mirror", fixture.mirror];
    const cut = await callArmoire([...search, "--limit", "1"]);
    expect(cut.stderr).toBe("1 of 10 rows are shown; --limit raises the limit.\n");
    expect(JSON.parse(cut.stdout)).toHaveLength(1);
    const uncut = await callArmoire([...search, "--limit", "1000"]);
    expect(uncut.stderr).toBe("");
  });
});

it("questions are listed without a mirror, singly with SQL, and as JSON", async () => {
  const list = async (...args: readonly string[]) => (await callArmoire(["query", "--list", ...args])).stdout;
  const all = await list();
  for (const { name, title } of listQuestions())
    expect(all).toMatch(new RegExp(`^@${name} {2,}${title.slice(0, 20)}`, "m"));
  const [bands] = listQuestions().filter(({ name }) => name === "bands");
  const details = await list("@bands");
  expect(details).toContain("\n  --brand   only this brand: its URL, name or slug\n");
  expect(details.endsWith(`\n\n${bands?.sql}\n`)).toBe(true);
  expect(JSON.parse(await list("--json"))).toEqual(listQuestions());
  expect(JSON.parse(await list("@bands", "--json"))).toEqual([bands]);
});

it("questions are part of the library", async () => {
  const request: QuestionRequest = { file: fixture.mirror, question: "top-brands", options: { limit: 1 } };
  const { columns, rows } = await runQuestion(request);
  expect(columns).toEqual(["name", "bra_count", "models", "key", "href"]);
  expect(await collectRows(rows)).toHaveLength(1);
  expectTypeOf(listQuestions()).toEqualTypeOf<readonly Question[]>();
});

it.each([
  ["a device without an end", () => "/dev/zero", /\/dev\/zero is a device, not a regular file\./],
  ["a named pipe", (folder: string) => pipeIn(folder), /pipe\.sql is a named pipe, not a regular file\./],
  ["a folder", (folder: string) => folder, /is a folder, not a regular file\./],
  [
    "a file that is too long",
    (folder: string) => {
      writeFileSync(join(folder, "long.sql"), "-".repeat(2 ** 20 + 1));
      return join(folder, "long.sql");
    },
    /long\.sql is larger than 1048576 bytes/,
  ],
])("a statement is not read from %s", async (_case, prepare, message) => {
  const args = ["query", "--file", prepare(fixture.folder), "--mirror", fixture.mirror];
  const { stderr, exitCode } = await callArmoire(args);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(message);
  expect(stderr).toContain("Give a file of SQL in UTF-8; `--file -` reads a pipe.\n");
});

function pipeIn(folder: string): string {
  const pipe = join(folder, "pipe.sql");
  execFileSync("mkfifo", [pipe]);
  return pipe;
}
