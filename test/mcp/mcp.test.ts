/** `armoire mcp`, used by the official client over the streams of a process. */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { maxAnswerLength } from "../../src/mcp/answer.ts";
import { loadSdk } from "../../src/mcp/load-sdk.ts";
import { serveMcp } from "../../src/mcp/serve-mcp.ts";
import { listCatalogueMirrors } from "../../src/mirror/file/paths.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { armoireProgram } from "../support/armoire-program.ts";
import { callArmoire, runArmoire, temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let dataDir = "";
let catalogue: Client;
let account: Client;

async function connect(...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: join(tmpdir(), "nobody"), ARMOIRE_DATA_DIR: dataDir };
  const command = { command: process.execPath, args: [armoireProgram, "mcp", ...args], env };
  await client.connect(new StdioClientTransport(command));
  return client;
}

interface Answer {
  readonly isError: boolean;
  readonly text: string;
}

async function call(client: Client, name: string, input: Record<string, unknown> = {}): Promise<Answer> {
  const { content, isError = false } = await client.callTool({ name, arguments: input });
  const [first] = content;
  return { isError, text: first?.type === "text" ? first.text : "" };
}

/** The answer of a call that must succeed. */
async function ask(client: Client, name: string, input?: Record<string, unknown>) {
  const { isError, text } = await call(client, name, input);
  expect({ isError, text: isError ? text : "" }).toEqual({ isError: false, text: "" });
  return JSON.parse(text);
}

beforeAll(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder.path, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  sandbox = await startSandbox({ users: 1, brands: 3, models: 8, sizes: 20, allowance: 5000 });
  const { url } = sandbox;
  const env = { ARMOIRE_TOKEN: sandbox.users[0]?.token ?? "" };
  for (const [args, settings] of [
    [["sync", "--base-url", url], {}],
    [["account", "add", "ada", "--base-url", url], env],
    [["sync", "--account", "ada"], {}],
  ] as const) {
    const done = await callArmoire([...args, "--data-dir", dataDir], { env: settings });
    expect({ args, exitCode: done.exitCode }).toEqual({ args, exitCode: 0 });
  }
  sandbox.advance({ steps: 3 });
  await callArmoire(["sync", "--base-url", url, "--mode", "verify", "--data-dir", dataDir]);
  [catalogue, account] = await Promise.all([connect(), connect("--account", "ada")]);
});
afterAll(async () => {
  await Promise.all([catalogue.close(), account.close()]);
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

it("the tools only read, and each says what it is for", async () => {
  const { tools } = await catalogue.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["tables", "questions", "search", "show", "diff", "query"]);
  for (const { description, annotations, inputSchema } of tools) {
    expect(description).toMatch(/^[A-Z].{20,}\.$/s);
    expect(annotations).toMatchObject({ readOnlyHint: true });
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
  }
});

describe("tools", () => {
  it("tables, and the columns of one", async () => {
    const { tables } = await ask(catalogue, "tables");
    expect(tables.map(({ table }: { table: string }) => table)).toEqual(
      expect.arrayContaining(["brand", "model", "size", "model_current"]),
    );
    const model = await ask(catalogue, "tables", { table: "model" });
    expect(model).toMatchObject({ key: ["href"], references: { brand_href: "brand" } });
    expect(await call(catalogue, "tables", { table: "bras" })).toMatchObject({ isError: true });
  });

  it("a question is listed and answered", async () => {
    const { questions } = await ask(catalogue, "questions");
    expect(questions).toContainEqual(expect.objectContaining({ name: "top-brands", mirrors: ["catalogue"] }));
    const answer = await ask(catalogue, "questions", { name: "top-brands", options: { limit: 2 } });
    expect(answer).toMatchObject({ columns: expect.arrayContaining(["name"]), isCut: true, gaps: [] });
    expect(answer.rows).toHaveLength(2);
  });

  it("what search finds can be shown", async () => {
    const { rows } = await ask(catalogue, "query", { sql: "select name from model_current limit 1" });
    const { found } = await ask(catalogue, "search", { text: rows[0][0], kind: "model" });
    const shown = await ask(catalogue, "show", { kind: "model", key: found[0].key });
    expect(shown).toMatchObject({ kind: "model", fields: { href: found[0].href }, model: {} });
  });

  it("a search without results names similar words", async () => {
    const [brand] = (await ask(catalogue, "query", { sql: "select name from brand_current limit 1" }))
      .rows[0];
    const answer = await ask(catalogue, "search", { text: `${brand}x` });
    expect(answer).toMatchObject({ found: [], isCut: false, similar: expect.arrayContaining([brand]) });
  });

  it("diff lists changes, and counts those that it leaves out", async () => {
    const all = await ask(catalogue, "diff", { from: "1", limit: 500 });
    expect(all).toMatchObject({ from: { run: 1 }, to: { run: 2 }, isCut: false });
    const one = await ask(catalogue, "diff", { from: "1", limit: 1 });
    expect(one).toMatchObject({ changes: [all.changes[0]], isCut: true, totals: all.totals });
    expect(JSON.stringify(all)).not.toContain(dataDir);
  });

  it("a query has parameters, and shows the past", async () => {
    const sql = "select typeof(:n) as type, :n + 1 as next, :yes as yes, :text as text";
    const answer = await ask(catalogue, "query", { sql, parameters: { n: 5, yes: true, text: "ä" } });
    expect(answer.rows).toEqual([["integer", 6, 1, "ä"]]);
    const versions = "select count(*) from model where last_modified_at is not null";
    const past = await ask(catalogue, "query", { sql: versions, as_of: "1" });
    expect(past.rows).toEqual([[expect.any(Number)]]);
  });
});

describe("limits", () => {
  it("an answer with too many or too long rows is cut, and says so", async () => {
    const numbers = "with recursive n (n) as (select 1 union all select n + 1 from n limit 5000)";
    const many = await ask(catalogue, "query", { sql: `${numbers} select n from n` });
    expect(many).toMatchObject({ isCut: true });
    expect(many.rows).toHaveLength(100);
    const long = await call(catalogue, "query", {
      sql: `${numbers} select printf('%1900d', n) from n`,
      max_rows: 1000,
    });
    expect(long.text.length).toBeLessThan(maxAnswerLength);
    expect(JSON.parse(long.text)).toMatchObject({ isCut: true });
  });

  it("a long text is cut, with its length", async () => {
    const { rows } = await ask(catalogue, "query", { sql: "select printf('%9000d', 1)" });
    expect(rows[0][0]).toMatch(/^ {2000}… \(9000 characters\)$/);
  });

  it("a question for more than a thousand rows is refused", async () => {
    const { isError, text } = await call(catalogue, "query", { sql: "select 1", max_rows: 5000 });
    expect(isError).toBe(true);
    expect(text).toContain("max_rows");
  });
});

describe("errors", () => {
  it.each([
    ["query", { sql: `select ${"x".repeat(100_000)}` }],
    ["questions", { name: "x".repeat(100_000) }],
    ["query", { sql: "select 1", ["x".repeat(100_000)]: 1 }],
    ["query", Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`unknown${n}`, n]))],
  ])("%s repeats no long input whole", async (name, input) => {
    const { isError, text } = await call(catalogue, name, input);
    expect([isError, text.length < 5000]).toEqual([true, true]);
  });

  it("the name of an unknown tool is not repeated whole", async () => {
    const error = await catalogue.callTool({ name: "x".repeat(100_000), arguments: {} }).then(
      ({ content }) => JSON.stringify(content),
      (reason: unknown) => String(reason),
    );
    expect(error).toContain("xxx");
    expect(error.length).toBeLessThan(5000);
  });

  it.each([
    ["query", { sql: "delete from model" }, /SELECT|read/],
    ["query", { sql: "select nam from model" }, /no such column: nam/],
    ["show", { kind: "brand", key: "no such brand" }, /no such brand/],
    ["show", { kind: "model" }, /key of the model is missing/],
    ["questions", { name: "top-brand" }, /@top-brands/],
    ["diff", { from: "/etc/passwd" }, /not a point in time/],
    ["diff", { since: "-7d", from: "1" }, /since cannot be given together/],
    ["search", { text: "a", as_of: "99" }, /99/],
  ])("%s with %o says plainly what is wrong", async (name, input, message) => {
    const { isError, text } = await call(catalogue, name, input);
    expect(isError).toBe(true);
    expect(text).toMatch(message);
    expect(text.split("\n").length).toBeLessThanOrEqual(3);
    expect(text).not.toContain("    at ");
  });

  it("without the optional package, one line says how to install it", async () => {
    const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    await expect(loadSdk(() => Promise.reject(missing))).rejects.toMatchObject({
      ...{ name: "McpError", code: "not-installed", hint: expect.stringContaining("npm install") },
    });
  });
});

describe("an account's mirror", () => {
  it("is read with --account, and its service's catalogue with it", async () => {
    const { fields } = await ask(account, "show", { kind: "user" });
    expect(fields).toHaveProperty("href");
    const sql = "select (select count(*) from bra) > 0, (select count(*) from catalogue.brand) > 0";
    expect((await ask(account, "query", { sql })).rows).toEqual([[1, 1]]);
  });

  it("is not read by its file's name alone", async () => {
    const file = join(dataDir, "accounts", "ada", "mirror.sqlite");
    const { stdout, stderr, exitCode } = await runArmoire(["mcp", "--mirror", file]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toContain("--account NAME");
  });
});

it("the server ends with its input, and at once without a mirror", async () => {
  const ended = await runArmoire(["mcp", "--data-dir", dataDir, "--base-url", sandbox.url]);
  expect(ended).toMatchObject({ stdout: "", stderr: "", exitCode: 0 });
  const empty = await runArmoire(["mcp", "--data-dir", join(folder.path, "empty")]);
  expect(empty).toMatchObject({ stdout: "", exitCode: 4 });
});

it("the server ends with a message that is too long, and with a broken output", async () => {
  const [file = ""] = listCatalogueMirrors(dataDir);
  const serve = (input: PassThrough, output: PassThrough) => serveMcp({ file, version: "1", input, output });
  const endless = new PassThrough();
  endless.write(`"${"a".repeat(11_000_000)}`);
  await expect(serve(endless, new PassThrough())).rejects.toThrow(
    /broken: .* maximum size of 10485760 bytes\./,
  );
  const output = new PassThrough();
  const served = serve(new PassThrough(), output);
  // After the server has begun to listen.
  await vi.waitFor(() => expect(output.listenerCount("error")).toBeGreaterThan(0));
  output.destroy(new Error("no space"));
  await expect(served).rejects.toThrow("The connection is broken: no space.");
});
