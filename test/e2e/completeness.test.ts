/** Commands whose output could be taken for the whole say how whole it is. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readPackageContents } from "../../exports/package/descriptor.ts";
import type { MirrorReader } from "../../src/mirror/reader.ts";
import { readCoverage, readCoverageOfBrands } from "../../src/mirror/runs/coverage.ts";
import { runQuery } from "../../src/query/sql/run-query.ts";
import { collectRows } from "../query/support/collect-rows.ts";
import { callArmoire } from "../support/run-armoire.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

let rig: Rig;
let folder = "";
const armoire = (...args: readonly string[]) => callArmoire([...args, "--mirror", rig.file]);

beforeAll(async () => {
  rig = await startRig({ brands: 6, models: 30, sizes: 40, allowance: 30 });
  folder = join(rig.file, "..");
  // The order of levels: all brands are held, and few models.
  await rig.sync({ order: "breadth" });
});
afterAll(() => rig[Symbol.asyncDispose]());

const partial =
  /^Not complete: .*\d+ of 30 models held.*; checked (from )?\d{4}-\d\d-\d\d \d\d:\d\d UTC.*\.\n$/;

/** The same among other lines. */
const partialLine = new RegExp(partial.source.replace(/\\n\$$/, "$"), "m");

it("an export of a partial mirror says so in datapackage.json and in one line on stderr", async () => {
  const out = join(folder, "partial");
  const result = await armoire("export", "--out", out);
  expect(result).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(partial) });
  const { coverage } = await readPackageContents(out);
  expect(coverage?.complete).toBe(false);
  expect(coverage?.kinds.find(({ kind }) => kind === "model")).toMatchObject({ gone: 0, failed: 0 });
  expect((await armoire("export", "--out", out, "--quiet")).stderr).toBe("");
});

it("an export with --require-complete writes nothing from a partial mirror and exits with 8", async () => {
  const out = join(folder, "required");
  const result = await armoire("export", "--out", out, "--require-complete");
  expect(result).toMatchObject({ exitCode: 8, stdout: "" });
  expect(result.stderr).toContain("Nothing was written. Not complete: ");
  expect(existsSync(out)).toBe(false);
  const brands = await armoire("export", "--out", out, "--table", "brand", "--require-complete");
  expect(brands).toMatchObject({
    ...{ exitCode: 0, stderr: "" },
    stdout: expect.stringMatching(
      /^Complete: everything known that belongs in this export is held; checked .* UTC\.$/m,
    ),
  });
  expect((await readPackageContents(out)).coverage?.kinds.map(({ kind }) => kind)).toEqual([
    "root",
    "brands",
    "brand",
  ]);
});

it("an export of some brands is complete if they are, and counts nothing else", async () => {
  await using other = await startRig({ brands: 6, models: 30, sizes: 40 });
  await other.sync({ depth: "brands" });
  const [first, second] = other.read(selectBrands) as [string, string];
  await other.sync({ brands: [first] });
  const exportBrands = (out: string, ...args: readonly string[]) => {
    const options = ["--out", join(other.file, "..", out), "--require-complete", ...args];
    return callArmoire(["export", ...options, "--mirror", other.file]);
  };
  expect(await exportBrands("first", "--brand", first)).toMatchObject({
    ...{ exitCode: 0, stderr: "" },
    stdout: expect.stringMatching(/^Complete: everything known that belongs in this export is held;/m),
  });
  const { coverage } = await readPackageContents(join(other.file, "..", "first"));
  const models = other.read(({ db }) =>
    db.prepare("select count(*) from model where brand_href = ?").pluck().get(first),
  );
  expect(models).toBeGreaterThan(0);
  expect(coverage?.kinds.find(({ kind }) => kind === "model")).toMatchObject({ known: models, held: models });
  const refused = await exportBrands("both", "--brand", first, "--brand", second);
  expect(refused).toMatchObject({ exitCode: 8, stdout: "" });
  expect(refused.stderr).toMatch(/Not complete: 1 page that lists models is not fetched; checked /);
  expect((await exportBrands("brands", "--brand", second, "--table", "brand")).exitCode).toBe(0);
  // Of the past, only the counts of all brands are stored.
  expect((await exportBrands("past", "--brand", first, "--as-of", "2")).exitCode).toBe(8);
});

it("the coverages of all brands add up to that of the mirror without its root and its list of brands", () => {
  const sums = new Map<string, number>();
  rig.read((mirror) => {
    for (const href of mirror.db.prepare<[], string>("select href from brand").pluck().all())
      for (const { kind, ...counts } of readCoverageOfBrands(mirror, [href]).kinds)
        for (const [name, count] of Object.entries(counts))
          if (typeof count === "number")
            sums.set(`${kind}.${name}`, count + (sums.get(`${kind}.${name}`) ?? 0));
  });
  const all = rig
    .read((mirror) => readCoverage(mirror))
    .kinds.filter(({ kind }) => kind !== "root" && kind !== "brands")
    .flatMap(({ kind, ...counts }) =>
      Object.entries(counts).map(([name, count]) => [`${kind}.${name}`, count]),
    )
    .filter(([, count]) => typeof count === "number");
  expect(Object.fromEntries(sums)).toEqual(Object.fromEntries(all));
});

/** The URLs of the two brands with most bras. */
const selectBrands = ({ db }: MirrorReader) =>
  db.prepare("select href from brand order by bra_count desc limit 2").pluck().all();

it("a query of a partial table says so on stderr, and a query of a complete one does not", async () => {
  const models = ["query", "select count(*) from model_current m"] as const;
  expect((await armoire(...models)).stderr).toMatch(partial);
  expect((await armoire(...models, "--quiet")).stderr).toBe("");
  for (const sql of [
    "select name from brand",
    "select * from coverage",
    "select 1",
    "pragma table_info(brand)",
  ])
    expect((await armoire("query", sql)).stderr).toBe("");
});

it("a named question over a partial table says so on stderr", async () => {
  expect((await armoire("query", "@top-models")).stderr).toMatch(partial);
  expect((await armoire("query", "@top-models", "--json", "--quiet")).stderr).toBe("");
});

it("changes, searches and comparisons of a partial mirror say so on stderr", async () => {
  for (const [command = "", ...args] of [
    ["search", "a"],
    ["changes"],
    ["changes", "--kind", "model", "--since", "1"],
    ["diff", "--since", "2010"],
  ]) {
    expect((await armoire(command, ...args)).stderr).toMatch(partialLine);
    expect((await armoire(command, ...args, "--quiet")).stderr).toBe("");
  }
  for (const command of [
    ["search", "a"],
    ["changes", "--since", "1"],
    ["diff", "--from", "1"],
  ])
    expect((await armoire(...command, "--kind", "brand")).stderr).not.toContain("Not complete");
  const { stderr } = await armoire("diff", "--from", "1");
  expect(stderr).toMatch(/^Earlier state \(what it lacked counts as added\): Not complete: .* models held/m);
  expect(stderr).toMatch(/^Later state: Not complete: .* models held/m);
});

it("a query over known or recently_changed is over all kinds, or those that it selects", async () => {
  const gapsOf = async (sql: string) => (await armoire("query", sql)).stderr;
  for (const sql of [
    "select count(*) from known",
    "select count(*) from known where kind = 'size'",
    "select count(*) from recently_changed",
    "select (select count(*) from known where kind = 'brand'), (select count(*) from known)",
  ])
    expect(await gapsOf(sql)).toMatch(/^Not complete: .*pages that list sizes are not fetched/);
  for (const sql of [
    "select count(*) from known where kind = 'brand'",
    "select kind, known from coverage where kind = 'size'",
  ])
    expect(await gapsOf(sql)).toBe("");
});

it("a model and a brand say if their lists are not fetched, and status and coverage have their kinds", async () => {
  await using other = await startRig({ brands: 2, models: 4, sizes: 8 });
  const readOther = async (...args: readonly string[]) =>
    (await callArmoire([...args, "--mirror", other.file])).stdout;
  await other.sync({ depth: "brands" });
  const [brand = ""] = (await readOther("query", "select key from resource_key", "--format", "ndjson")).match(
    /(?<=")[\w-]+(?="\})/,
  ) ?? [""];
  expect(await readOther("show", "brand", brand)).toMatch(/^Models: the list is not fetched yet$/m);
  const unknown = ["query", "select known, held from coverage where kind = 'model'", "--json"];
  expect(JSON.parse(await readOther(...unknown))).toEqual([{ known: null, held: 0 }]);
  await other.sync({ depth: "models" });
  const [{ key }] = JSON.parse(
    await readOther("query", "select key from resource_key where kind = 'model' limit 1", "--json"),
  );
  expect(await readOther("show", "model", key)).toMatch(/^Sizes: the list is not fetched yet$/m);
  for (const point of [[], ["--as-of", "2"]])
    expect(await readOther("status", ...point)).toMatch(/^size +\? +0/m);
  await other.sync();
  expect(await readOther("show", "brand", brand)).toMatch(/^Models: (none known|[1-4])$/m);
  expect(await readOther("show", "model", key)).not.toContain("not fetched");
  expect(await readOther("status")).toMatch(/^size +8 +8/m);
});

it("a query's result has the coverage of the tables that it reads, also as of an earlier run", async () => {
  const sql = "select * from size";
  const { coverage, rows, tables } = await runQuery({ file: rig.file, sql });
  expect(tables).toEqual({ mirror: ["model", "size"], catalogue: [] });
  expect(coverage).toMatchObject({ mirror: { complete: false }, catalogue: null });
  const past = await runQuery({ file: rig.file, sql, asOf: { kind: "run", run: 1 } });
  expect(past.coverage).toEqual(coverage);
  // Its process ends when all rows are read.
  for (const result of [rows, past.rows]) await collectRows(result);
});

it("status says what is missing, at present and as of a run", async () => {
  for (const point of [[], ["--as-of", "1"]]) {
    expect((await armoire("status", ...point)).stdout).toMatch(/^Not complete: .* models held/m);
    expect(JSON.parse((await armoire("status", "--json", ...point)).stdout)).toMatchObject({
      complete: false,
    });
  }
});

it("a backup with --require-complete is written from a partial mirror, and exits with 8", async () => {
  const to = join(folder, "partial.zip");
  expect((await armoire("backup", "create", "--to", to, "--require-complete")).exitCode).toBe(8);
  expect(existsSync(to)).toBe(true);
  expect((await armoire("backup", "create", "--to", join(folder, "other.zip"))).exitCode).toBe(0);
});

it("status and sync name the checks that are owed, and the command that makes them", async () => {
  await using other = await startRig({ brands: 6, models: 30, sizes: 40 });
  const mirror = ["--mirror", other.file];
  const sync = ["sync", ...mirror, "--base-url", other.sandbox.url];
  await callArmoire(sync);
  await callArmoire(sync);
  expect((await callArmoire(["status", ...mirror])).stdout).not.toContain("due;");
  const db = new Database(other.file);
  db.prepare("update _resource set checked_at = checked_at - ?").run(40 * 86_400_000);
  // It has the times of the first and last checks.
  db.exec("update _run set coverage_json = null");
  const held = db.prepare("select count(*) from _resource where state = 'held'").pluck().get();
  db.close();
  const line = new RegExp(
    `^${held} checks are due; \`armoire sync --max-free-checks ${held}\` makes them, in about `,
    "m",
  );
  const status = await callArmoire(["status", ...mirror]);
  expect(status.stdout).toMatch(/^Complete: /m);
  expect(status.stdout).toMatch(line);
  expect(JSON.parse((await callArmoire(["status", ...mirror, "--json"])).stdout).owedChecks).toEqual({
    ...{ due: held, leftOut: 0, seconds: expect.any(Number) },
  });
  const limited = await callArmoire([...sync, "--max-free-checks", "1"]);
  expect(limited.stdout).toMatch(
    /checks are due; `armoire sync --max-free-checks \d+` makes them, in about \d+ s\.\n$/,
  );
  expect((await callArmoire([...sync, "--max-free-checks", "1000"])).stdout).toMatch(/up to date: .*\n$/);
});
