/** Everything that could be taken for the whole of a catalogue or an account says that it is not, in itself or beside it. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { parquetMetadataAsync } from "hyparquet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diff as diffTool } from "../../src/mcp/tools/diff.ts";
import { searchTool } from "../../src/mcp/tools/lookups.ts";
import { query as queryTool } from "../../src/mcp/tools/queries.ts";
import { summarizeReport } from "../../src/schedule/run/summarize-report.ts";
import { createServer } from "../../src/web/server.ts";
import { callArmoire } from "../support/run-armoire.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";
import { send } from "../web/support/web-rig.ts";

let rig: Rig;
const inFolder = (name: string) => join(dirname(rig.file), name);
const armoire = (...args: readonly string[]) => callArmoire([...args, "--mirror", rig.file]);
const ada = (...args: readonly string[]) =>
  callArmoire([...args, "--data-dir", inFolder("data")], {
    env: { ARMOIRE_TOKEN: rig.sandbox.users[0]?.token ?? "" },
  });

beforeAll(async () => {
  rig = await startRig({ brands: 6, models: 60, sizes: 80, users: 1 });
  // All brands, and a tenth of the models.
  await rig.sync({ order: "breadth", depth: "brands" });
  await rig.sync({ order: "breadth", budget: 15 });
  await rig.sync({ order: "breadth", budget: 3 });
  await ada("account", "add", "ada", "--base-url", rig.sandbox.url);
  await ada("sync", "--account", "ada", "--budget", "6");
});
afterAll(() => rig[Symbol.asyncDispose]());

const gap = /Not complete: .*\d+ of 60 models held/;

describe("what is missing is printed on stderr, in one line, by", () => {
  it.each([
    "export --out FOLDER/all",
    "export --out - --table model",
    "export --out FOLDER/model.csv --table model",
    "export --out FOLDER/all.sqlite",
    "query @top-models",
    "query @top-brands --json",
    "search a --json",
    "diff --json",
    "diff --from 1 --format csv",
    "diff --since 2010",
    "changes",
    "changes --json",
    "changes --out FOLDER/c.atom",
    "snapshot create --to FOLDER/s.zip --license CC0-1.0",
    "snapshot publish --to FOLDER/public --license CC0-1.0",
  ])("%s", async (line) => {
    const words = line.split(" ").map((word) => word.replace("FOLDER", dirname(rig.file)));
    const { exitCode, stderr } = await armoire(...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(gap) });
    expect((await armoire(...words, "--quiet")).stderr).not.toContain("Not complete");
  });

  it.each(["show bras", "show measurements", "page --out FOLDER/ada.html"])(
    "%s of an account",
    async (line) => {
      const words = line.split(" ").map((word) => word.replace("FOLDER", dirname(rig.file)));
      const { exitCode, stderr } = await ada(...words, "--account", "ada");
      expect({ exitCode, stderr }).toEqual({
        exitCode: 0,
        stderr: expect.stringMatching(/^Not complete: /m),
      });
    },
  );
});

describe("what is missing is counted in the history of a schedule that runs", () => {
  const rowsOfAll = () =>
    rig.read(({ db }) =>
      ["brand", "model", "model_picture"].reduce(
        (sum, table) => sum + Number(db.prepare(`select count(*) from ${table}`).pluck().get()),
        0,
      ),
    );
  it.each([
    [
      "export --out FOLDER/by-schedule --format csv",
      { files: 3, rows: expect.toSatisfy((rows) => rows === rowsOfAll()) },
    ],
    ["export --out FOLDER/by-schedule", { files: 6, rows: expect.toSatisfy((rows) => rows === rowsOfAll()) }],
    ["export --out FOLDER/by-schedule", { unchanged: 6 }],
    ["export --out FOLDER/by-schedule.csv --table model", { files: 1, rows: expect.any(Number) }],
    ["export --out FOLDER/by-schedule.sqlite", { files: 1, rows: expect.any(Number) }],
    ["snapshot create --to FOLDER/by-schedule.zip --license CC0-1.0", { files: 1 }],
    ["snapshot create --to FOLDER/by-schedule.zip --license CC0-1.0", { unchanged: 1 }],
    [
      "snapshot publish --to FOLDER/by-schedule-public --license CC0-1.0",
      { files: 1, resources: expect.any(Number) },
    ],
    ["snapshot publish --to FOLDER/by-schedule-public --license CC0-1.0", { unchanged: 1 }],
  ])("%s", async (line, counts) => {
    const words = line.split(" ").map((word) => word.replace("FOLDER", dirname(rig.file)));
    const { stdout } = await armoire(...words, "--json", "--quiet");
    expect(summarizeReport(stdout)).toEqual({ ...counts, missing: expect.toSatisfy((n) => n > 40) });
  });

  it("backup create of an account", async () => {
    const to = inFolder("by-schedule-ada.zip");
    const { stdout } = await ada("backup", "create", "--account", "ada", "--to", to, "--json", "--quiet");
    expect(summarizeReport(stdout)).toEqual({ files: 1, missing: expect.toSatisfy((n) => n > 0) });
  });
});

describe("what is missing is stated in", () => {
  const write = async (...words: readonly string[]) =>
    expect(await armoire(...words)).toMatchObject({ exitCode: 0 });
  const textOf = (name: string) => readFileSync(inFolder(name), "utf8");

  it.each([
    ["changes.md", /^# .*\n\nNot complete: .*models held/],
    ["changes.atom", /<subtitle>Not complete: .*models held/],
    ["feed.json", /"description":"Not complete: .*models held/],
    ["changes.ndjson", /^(\{"run":\d+,"endedAt":"[^"]*","complete":false,.*\n)+$/],
  ])("a feed %s", async (name, said) => {
    await write("changes", "--out", inFolder(name), "--since", "1");
    expect(textOf(name)).toMatch(said);
    const brands = `brands-${name}`;
    await write("changes", "--out", inFolder(brands), "--kind", "brand");
    expect(textOf(brands)).not.toMatch(/Not complete|"complete":false/);
  });

  it.each([
    ["export", "--out", "one.sqlite"],
    ["export", "--out", "table.sqlite", "--table", "model"],
    ["query", "select name from model", "--out", "answer.sqlite"],
  ])("an SQLite file of %s %s %s", async (...words) => {
    const name = words.find((word) => word.endsWith(".sqlite")) ?? "";
    await write(...words.map((word) => (word === name ? inFolder(name) : word)));
    const db = new Database(inFolder(name), { readonly: true });
    const rows = db.prepare("select * from coverage where missing is not null").all();
    db.close();
    expect(rows).toContainEqual({
      ...{ kind: "model", known: 60, held: expect.any(Number), due: expect.any(Number), failed: 0, gone: 0 },
      missing: expect.stringMatching(/^\d+ of 60 models held$/),
    });
  });

  it("the metadata of a Parquet file", async () => {
    const noted = async (name: string, ...words: readonly string[]) => {
      await write("export", "--out", inFolder(name), ...words);
      const { buffer, byteOffset, length } = readFileSync(inFolder(name));
      const bytes = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
      return (await parquetMetadataAsync(bytes)).key_value_metadata;
    };
    expect(await noted("model.parquet", "--table", "model")).toEqual([
      { key: "coverage", value: expect.stringMatching(/^Not complete: .* of 60 models held\.$/) },
    ]);
    expect(await noted("brand.parquet", "--table", "brand")).toBeUndefined();
  });

  it("an export in all formats: descriptor, README, scripts, SQLite, and what verify prints", async () => {
    const out = inFolder("package");
    await write("export", "--out", out, "--format", "csv,sqlite");
    for (const name of ["README.md", "load.sql", "load.py", "load.R"])
      expect(textOf(join("package", name))).toMatch(gap);
    expect(JSON.parse(textOf("package/datapackage.json")).armoire.coverage.complete).toBe(false);
    const db = new Database(join(out, "tables.sqlite"), { readonly: true });
    expect(db.prepare("select missing from coverage where kind = 'model'").pluck().get()).toMatch(/ of 60 /);
    db.close();
    expect(await armoire("export", "verify", out)).toMatchObject({
      ...{ exitCode: 0, stdout: expect.stringMatching(gap) },
    });
  });

  it("a snapshot, and what is printed of it", async () => {
    const file = inFolder("of-part.zip");
    const made = await armoire("snapshot", "create", "--to", file, "--license", "CC0-1.0");
    expect(made.stdout).toMatch(/: 6 brands, \d+ of 60 models/);
    for (const command of ["show", "verify"])
      expect((await armoire("snapshot", command, file)).stdout).toMatch(gap);
    const published = await armoire(
      ...["snapshot", "publish", "--to", inFolder("json"), "--license", "CC0-1.0", "--json", "--quiet"],
    );
    expect(JSON.parse(published.stdout).coverage).toContainEqual(
      expect.objectContaining({ kind: "model", due: expect.toSatisfy((due) => due > 0) }),
    );
  });

  it("the page of an account, and the one in its backup", async () => {
    const page = inFolder("own.html");
    expect(await ada("page", "--account", "ada", "--out", page)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(page, "utf8")).toMatch(/role="note">Not complete: [^<]*bras held/);
    const to = inFolder("ada.zip");
    const made = await ada("backup", "create", "--account", "ada", "--to", to);
    expect(made.stdout).toMatch(/^Not complete: \d+ bras are listed and not fetched yet/m);
    expect(existsSync(to)).toBe(true);
  });
});

describe("what is missing is sent by", () => {
  it("the tools of mcp, as gaps", async () => {
    const signal = new AbortController().signal;
    const mirror = { file: rig.file };
    for (const [tool, input] of [
      [queryTool, { sql: "select count(*) from model" }],
      [searchTool, { text: "a" }],
      [diffTool, {}],
    ] as const)
      expect(await tool.run(input, mirror, signal)).toMatchObject({
        gaps: expect.arrayContaining([expect.stringMatching(gap)]),
      });
    expect(await searchTool.run({ text: "a", kind: "brand" }, mirror, signal)).toMatchObject({ gaps: [] });
  });

  it("serve, as a note on pages and a header of their rows", async () => {
    await using server = await serve();
    for (const path of [
      "/models",
      "/changes",
      "/changes/2",
      "/compare",
      "/search?q=a",
      "/sql?q=select+*+from+model",
    ]) {
      expect({ path, body: (await send(server, path)).body }).toEqual({
        path,
        body: expect.stringMatching(gap),
      });
      const [page = "", query = ""] = path.split("?");
      for (const ending of ["csv", "json", "ndjson"]) {
        const { headers, status } = await send(server, `${page}.${ending}?${query}`);
        expect({ path, status, said: headers["armoire-coverage"] }).toEqual({
          ...{ path, status: 200, said: expect.stringMatching(gap) },
        });
      }
    }
    expect((await send(server, "/brands.csv")).headers).not.toHaveProperty("armoire-coverage");
  });
});

async function serve() {
  const server = await createServer({ findCatalogue: () => rig.file, port: 0, clock: rig.clock });
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() };
}
