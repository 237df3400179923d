/** Queries in their own process: results, parameters, deadlines, failures. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import fc from "fast-check";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Row } from "../../exports/formats/table.ts";
import { readCell } from "../../src/query/sql/execute-query.ts";
import { type QueryRequest, runQuery } from "../../src/query/sql/run-query.ts";
import { expectUnreadable } from "../support/canary.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { collectRows } from "./support/collect-rows.ts";
import { runQueryHere } from "./support/in-this-process.ts";
import { makeMirrorLikeFile } from "./support/mirror-like-file.ts";

let folder = "";
let file = "";

beforeAll(async () => {
  const temporary = await temporaryFolder();
  folder = temporary.path;
  file = makeMirrorLikeFile(folder);
  return () => temporary[Symbol.asyncDispose]();
});

const endless = "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
const counting = "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";

async function query(sql: string, options: Partial<QueryRequest> = {}): Promise<Row[]> {
  return await collectRows((await runQuery({ file, sql, ...options })).rows);
}

/** For errors of statements and files, which do not depend on the process. */
async function queryHere(sql: string, options: Partial<QueryRequest> = {}): Promise<Row[]> {
  return await collectRows((await runQueryHere({ file, sql, ...options })).rows);
}

/** The ids of running query processes that this process started. */
async function queryProcesses(): Promise<string[]> {
  const processIds = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found: string[] = [];
  for (const processId of processIds) {
    const stat = await readFile(`/proc/${processId}/stat`, "utf8").catch(() => "");
    const commandLine = await readFile(`/proc/${processId}/cmdline`, "utf8").catch(() => "");
    if (Number(stat.split(") ")[1]?.split(" ")[1]) === process.pid && commandLine.includes("query-child"))
      found.push(processId);
  }
  return found;
}

describe("results", () => {
  it("a result has columns and rows with exact text and integers, and blobs as literals", async () => {
    const result = await runQuery({
      file,
      sql: "SELECT b.*, sha256 FROM brand b LEFT JOIN content ON b.href = 'a' ORDER BY href",
    });
    expect(result.columns).toEqual(["href", "name", "bra_count", "sha256"]);
    expect(await collectRows(result.rows)).toEqual([
      ["a", "Anita", 3, "x'00ff1001'"],
      ["b", "lone \ud800", 9007199254740993n, null],
      ["c", "nul \0 and 😀", null, null],
    ]);
    expect(result.isCut).toBe(false);
  });

  it("a result has columns even without rows, also several of the same name", async () => {
    const result = await runQuery({ file, sql: "SELECT 1 AS x, 2 AS x WHERE false" });
    expect(result.columns).toEqual(["x", "x"]);
    expect(await collectRows(result.rows)).toEqual([]);
    expect(await query("SELECT 1 AS x, 2 AS x")).toEqual([[1, 2]]);
  });

  it("a result can come from views, full-text tables, EXPLAIN and pragmas", async () => {
    expect(await query("SELECT name, twice FROM known WHERE href IN ('a', 'b') ORDER BY href")).toEqual([
      ["Anita", 6],
      ["lone \ud800", 18014398509481986n],
    ]);
    expect(await query("SELECT name FROM search WHERE search MATCH 'anita'")).toEqual([["Anita"]]);
    expect((await query("EXPLAIN QUERY PLAN SELECT * FROM brand")).length).toBe(1);
    expect((await query("PRAGMA table_info(brand)")).length).toBe(3);
  });

  it("a result has exact text also from subqueries and views", async () => {
    const name = "(SELECT b.name FROM brand b WHERE b.href = o.href AND b.name IS NOT NULL LIMIT 1) AS name";
    const view = `SELECT o.href, ${name} FROM brand o`;
    expect(await query(`SELECT name FROM (${view}) WHERE href = 'b' ORDER BY name`)).toEqual([
      ["lone \ud800"],
    ]);
    expect(await query("SELECT (SELECT name FROM known WHERE href = 'b')")).toEqual([["lone \ud800"]]);
  });

  it("a result comes in batches, and its process ends when the caller stops reading batches", async () => {
    const { batches } = await runQuery({ file, sql: counting });
    const first: Row[] = [];
    for await (const batch of batches) {
      first.push(...batch);
      break;
    }
    expect(first.length).toBeGreaterThan(1);
    expect(first).toEqual(first.map((_, index) => [index + 1]));
    expect(await queryProcesses()).toEqual([]);
  });

  it("parameters are given in order or by name", async () => {
    expect(await query("SELECT ?, ?, ?, ?", { parameters: ["it's", 2n ** 60n, 1.5, null] })).toEqual([
      ["it's", 2n ** 60n, 1.5, null],
    ]);
    expect(await query("SELECT :name || $end", { parameters: { name: "a", end: "\0b" } })).toEqual([
      ["a\0b"],
    ]);
  });

  it.each(["__proto__", "constructor", "hasOwnProperty"])("a parameter may be called %s", async (name) => {
    expect(await query(`SELECT :${name}`, { parameters: { [name]: 7 } })).toEqual([[7]]);
    await expect(query(`SELECT :${name}`, { parameters: {} })).rejects.toMatchObject({
      message: `These parameters have no value: :${name}.`,
    });
  });

  it("a statement takes exactly SQLite's own parameters, with whole numbers as integers", async () => {
    const sql = "SELECT typeof(:whole) AS \":column\", ':text', typeof(@half), 3 /* :comment */ -- :another";
    expect(await query(sql, { parameters: { whole: 5, half: 0.5 } })).toEqual([
      ["integer", ":text", "real", 3],
    ]);
    expect(await query("SELECT typeof(?), typeof(?)", { parameters: [5, -0] })).toEqual([
      ["integer", "real"],
    ]);
  });

  it.each([
    [
      "SELECT :brand, :cup, $band",
      { cup: 1 },
      "These parameters have no value: :brand, :band.",
      /-p NAME=VALUE/,
    ],
    [
      "SELECT :brand",
      { brand: 1, band: 2, cup: 3 },
      "The statement has no such parameters: :band, :cup.",
      /^Its parameters: :brand\.$/,
    ],
    ["SELECT 1", { brand: 1 }, "The statement has no such parameters: :brand.", /no parameters/],
    ["SELECT :brand, ?", { brand: 1 }, "The statement has parameters without a name (?).", /as :NAME/],
  ])(
    "missing or unknown parameters are an error that names them: %j with %j",
    async (sql, parameters, message, hint) => {
      await expect(queryHere(sql, { parameters })).rejects.toMatchObject({
        ...{ name: "QueryError", code: "parameters", message, hint: expect.stringMatching(hint) },
      });
    },
  );

  it("a result reports whether the row limit cut it, and of how many rows", async () => {
    for (const [maxRows, isCut, total] of [
      [0, true, 3],
      [2, true, 3],
      [3, false, null],
      [4, false, null],
    ] as const) {
      const result = await runQuery({ file, sql: "SELECT href FROM brand", maxRows, countMillis: 60_000 });
      expect((await collectRows(result.rows)).length).toBe(Math.min(maxRows, 3));
      expect([result.isCut, result.total]).toEqual([isCut, total]);
    }
  });

  it("rows beyond the limit that cannot be counted in time, or fail, make no error", async () => {
    const failing =
      "select json(iif(value < 5, '1', '{')) from (select 1 as value union all select 2 union all select 3 union all select 7)";
    for (const [sql, countMillis] of [
      [counting, 100],
      [failing, 60_000],
    ] as const) {
      const result = await runQuery({ file, sql, maxRows: 2, countMillis });
      expect(await collectRows(result.rows)).toHaveLength(2);
      expect([result.isCut, result.total]).toEqual([true, null]);
    }
  });

  it("a result can be endless, and its process ends when the caller stops reading rows", async () => {
    const { rows } = await runQuery({ file, sql: counting });
    let last: Row = [];
    for await (const row of rows) {
      last = row;
      if (row[0] === 12_345) break;
    }
    expect(last).toEqual([12_345]);
    expect(await queryProcesses()).toEqual([]);
  });

  it("a result has the committed rows while another process writes", async () => {
    const live = join(folder, "live.sqlite");
    const writer = new Database(live);
    writer.pragma("journal_mode = WAL");
    writer.exec("CREATE TABLE t (x); INSERT INTO t VALUES (1); BEGIN; INSERT INTO t VALUES (2)");
    expect(await query("SELECT x FROM t", { file: live })).toEqual([[1]]);
    writer.exec("COMMIT");
    expect(await query("SELECT x FROM t", { file: live })).toEqual([[1], [2]]);
    writer.close();
  });
});

describe("failures", () => {
  it("a query is stopped at its deadline together with its process", async () => {
    await expect(query(endless, { timeoutMillis: 300 })).rejects.toMatchObject({
      code: "timeout",
      message: "The query took longer than 0.3 s and was stopped.",
    });
    expect(await queryProcesses()).toEqual([]);
  });

  it("a query is stopped by a signal before it starts or while it runs", async () => {
    await expect(query("SELECT 1", { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
    const controller = new AbortController();
    const { rows } = await runQuery({ file, sql: endless, signal: controller.signal });
    const reading = collectRows(rows);
    controller.abort();
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
    expect(await queryProcesses()).toEqual([]);
  });

  it.runIf(process.platform === "linux").each(["startQueryProcess", "watchingItself"])(
    "a query ends, long before its deadline, if the parent process was killed: %s",
    async (start) => {
      const sources = join(import.meta.dirname, "../../src/query/sql");
      const program = `
        import { readFileSync } from "node:fs";
        import { forkQueryProcess, startQueryProcess } from ${JSON.stringify(join(sources, "query-process.ts"))};
        import { runQuery } from ${JSON.stringify(join(sources, "run-query.ts"))};
        const watchingItself = (...how) => forkQueryProcess(null).begin(...how);
        const { rows } = await runQuery(${JSON.stringify({ file, sql: endless })}, ${start});
        const reading = rows[Symbol.asyncIterator]().next();
        const queryProcess = readFileSync("/proc/self/task/" + process.pid + "/children", "utf8");
        const commandLine = readFileSync("/proc/" + Number(queryProcess) + "/cmdline", "utf8");
        process.stdout.write(queryProcess + commandLine, () => process.kill(process.pid, "SIGKILL"));
        await reading;`;
      const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exit = once(parent, "exit");
      const [printed] = await once(parent.stdout, "data");
      await exit;
      const [id = ""] = String(printed).split(" ");
      expect(String(printed)).toContain("query-child");
      const commandLine = `/proc/${id}/cmdline`;
      await expect.poll(() => readFile(commandLine, "utf8").catch(() => "")).toBe("");
    },
  );

  it("a query whose process dies reports the signal", async () => {
    const { rows } = await runQuery({ file, sql: endless });
    const reading = collectRows(rows);
    for (const processId of await queryProcesses()) process.kill(Number(processId), "SIGSEGV");
    await expect(reading).rejects.toMatchObject({
      code: "crashed",
      message: expect.stringContaining("SIGSEGV"),
    });
  });

  it.each([
    ["SELECT absent FROM brand", "syntax", "SQLite rejects the statement: no such column: absent."],
    ["SELEC 1", "syntax", 'SQLite rejects the statement: near "SELEC": syntax error.'],
    ["SELECT * FROM\nnowhere", "syntax", "SQLite rejects the statement: no such table: nowhere."],
    ["SELECT ?", "syntax", expect.stringContaining("Too few parameter values were provided")],
    ["SELECT abs(-9223372036854775808)", "failed", "The statement failed: integer overflow."],
    ["SELECT json('{')", "failed", "The statement failed: malformed JSON."],
    ["SELECT zeroblob(1000000001)", "too-large", expect.stringContaining("too big")],
  ])("an invalid query has an error with the cause and a hint: %j", async (sql, code, message) => {
    await expect(queryHere(sql)).rejects.toMatchObject({
      name: "QueryError",
      code,
      message,
      hint: expect.stringMatching(/./),
    });
  });

  it("a cell beyond its limit is an error with its length", async () => {
    await expect(query("SELECT zeroblob(20000000)")).rejects.toMatchObject({
      ...{ name: "QueryError", code: "too-large", hint: expect.stringMatching(/./) },
      message: "A cell's length is 20000000, and at most 16777216 is allowed.",
    });
  });

  it.each([
    ["SELECT names FROM brand", "Did you mean name? `armoire tables brand` lists the columns."],
    ["SELECT sha265 FROM brand", "`armoire tables brand` lists the columns."],
    ["SELECT c.sha265 FROM Content c", "Did you mean sha256? `armoire tables content` lists the columns."],
    ["SELECT name", "`armoire tables NAME` lists the columns."],
    ["SELECT * FROM brands", "Did you mean brand? `armoire tables` lists the tables."],
    ["SELECT model_name FROM brand", "Did you mean name? `armoire tables brand` lists the columns."],
  ])("the hint for an unknown name has the names of the statement's own tables: %j", async (sql, hint) => {
    await expect(queryHere(sql)).rejects.toMatchObject({ hint });
  });

  it.each([
    [".tables", "`armoire tables` lists the tables, and `armoire tables NAME` the columns of one."],
    [
      "describe brand;",
      "`armoire tables` lists the tables, and `armoire tables brand` the columns of this one.",
    ],
    ["\\d model", "`armoire tables` lists the tables, and `armoire tables model` the columns of this one."],
    ["SELECT TOP 10 * FROM brand", /^SQLite has no TOP: write LIMIT 10 at the end/],
    ["SELECT year('2026-11-03')", /^In SQLite, strftime\('%Y', TIME\) is the year\.$/],
    ["SELECT frobnicate(1)", /^SQLite's functions: https:/],
    ["SELECT 'abc FROM brand", /^A quote is not closed\./],
    ["SELECT * FROM brand WHERE name = 'Anita's'", /^A quote is not closed\./],
    ["SELECT name FROM brand a JOIN brand b", /^Several of the tables have it\. .*, such as brand\.name\.$/],
    ["SELECT * FROM brand WHERE", /^Check the statement\.$/],
  ])("the hint for what SQLite rejects says what to write: %s", async (sql, hint) => {
    await expect(queryHere(sql)).rejects.toMatchObject({
      message: expect.stringMatching(/[^.?][.?]$/),
      hint: expect.stringMatching(hint),
    });
  });

  it.each<[string, string, (path: string) => Promise<unknown>]>([
    ["missing", "cannot-read", async () => {}],
    ["no-folder/file", "cannot-read", async () => {}],
    ["folder", "cannot-read", (path) => mkdir(path)],
    ["text", "not-a-database", (path) => writeFile(path, "href,name\n".repeat(1000))],
    [
      "cut",
      "damaged",
      async (path) => {
        expectUnreadable(path);
        await writeFile(path, await readFile(file));
        await truncate(path, 5000);
      },
    ],
  ])("a failing query names the file if it is %s", async (name, code, prepare) => {
    const path = join(folder, name);
    await prepare(path);
    await expect(queryHere("SELECT * FROM brand", { file: path })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(path),
    });
  });

  it("a query cannot open a URI or a database in memory", async () => {
    for (const path of [`file:${file}`, ":memory:", ""]) {
      await expect(queryHere("SELECT 1", { file: path })).rejects.toMatchObject({ code: "cannot-read" });
    }
  });
});

describe("process", () => {
  it.runIf(process.platform === "linux")(
    "a query's process has only the compile cache in its environment, and no SQL in its arguments",
    async () => {
      vi.stubEnv("ARMOIRE_TOKEN", "canary-in-the-environment");
      const { rows } = await runQuery({ file, sql: `${counting} -- canary-in-the-sql` });
      const [processId] = await queryProcesses();
      const visible = await Promise.all(
        ["environ", "cmdline"].map((name) => readFile(`/proc/${processId}/${name}`, "utf8")),
      );
      for await (const _row of rows) break;
      vi.unstubAllEnvs();
      expect(visible.join("")).toContain("query-child");
      expect(visible.join("")).not.toContain("canary-");
      const names = visible[0]?.split("\0").map((entry) => entry.split("=")[0]);
      const nodeNames = ["NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "NODE_COMPILE_CACHE"];
      expect(names?.sort()).toEqual(["", ...nodeNames]);
    },
  );
});

describe("stored UTF-16", () => {
  it("readCell decodes exactly the blobs that are stored UTF-16 text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.uint8Array(), (text, bytes) => {
        const lone = `${text}\ud800`;
        expect(readCell(Buffer.from(lone, "utf16le"), "ANY")).toBe(lone);
        const wellFormed = Buffer.from(text.toWellFormed(), "utf16le");
        expect(readCell(wellFormed, "ANY")).toBe(`x'${wellFormed.toString("hex")}'`);
        const literal = `x'${Buffer.from(bytes).toString("hex")}'`;
        expect(readCell(Buffer.from(bytes), "BLOB")).toBe(literal);
        expect(readCell(Buffer.from(bytes), null)).toBe(literal);
      }),
    );
  });
});
