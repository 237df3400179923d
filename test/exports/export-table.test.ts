/** One table as a single file, or on standard output. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { exportTable } from "../../exports/export-table.ts";
import { readTarget } from "../../src/cli/flags/export-target.ts";
import { callArmoire } from "../support/run-armoire.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 3, models: 4, sizes: 5 });
  await rig.sync();
  await exportBrands("--out", placeOf("folder"), "--format", "csv,json,ndjson,parquet");
});
afterAll(() => rig[Symbol.asyncDispose]());

const placeOf = (name: string) => join(rig.file, "..", name);
const exportBrands = (...args: readonly string[]) =>
  callArmoire(["export", "--mirror", rig.file, "--table", "brand", ...args]);
const inFolder = (name: string) => readFileSync(placeOf(join("folder", name)));

it.each(["csv", "json", "ndjson", "parquet"])(
  "a name that ends in .%s gives one file in that format, with the bytes of a folder's",
  async (ending) => {
    const file = placeOf(`brands.${ending}`);
    expect(await exportBrands("--out", file)).toMatchObject({
      ...{ exitCode: 0, stderr: "" },
      stdout: expect.stringMatching(
        /^3 rows written to \S+ \(run 1, ended \d{4}-\d\d-\d\d \d\d:\d\d UTC\)\n$/,
      ),
    });
    expect(readFileSync(file).equals(inFolder(`brand.${ending}`))).toBe(true);
    writeFileSync(file, "earlier");
    await exportBrands("--out", file, "--format", ending);
    expect(readFileSync(file).equals(inFolder(`brand.${ending}`))).toBe(true);
  },
);

it("an SQLite file has the table, and is replaced by a later one", async () => {
  const file = placeOf("brands.sqlite");
  for (const rows of [3, 3]) {
    expect(await exportBrands("--out", file)).toMatchObject({ exitCode: 0 });
    const db = new Database(file, { readonly: true });
    expect(db.prepare("select count(*) from brand").pluck().get()).toBe(rows);
    db.close();
  }
});

it("a name that ends in .gz or .zst gives a compressed file", async () => {
  for (const [ending, decompress] of [
    ["gz", gunzipSync],
    ["zst", zstdDecompressSync],
  ] as const) {
    const file = placeOf(`brands.csv.${ending}`);
    expect(await exportBrands("--out", file)).toMatchObject({ exitCode: 0 });
    expect(decompress(readFileSync(file)).equals(inFolder("brand.csv"))).toBe(true);
  }
});

it.each(["csv", "json", "ndjson"])("--out - writes the table as %s to standard output", async (format) => {
  const { stdout, stderr, exitCode } = await exportBrands("--out", "-", "--format", format);
  expect([exitCode, stderr, stdout]).toEqual([0, "", inFolder(`brand.${format}`).toString()]);
});

it("--out - writes CSV by default, and a notice of missing resources to standard error", async () => {
  await using partial = await startRig({ brands: 3, models: 3, sizes: 3, allowance: 3 });
  await partial.sync();
  const args = ["export", "--mirror", partial.file, "--table", "brand", "--out", "-"];
  const { stdout, stderr } = await callArmoire(args);
  expect(stdout).toMatch(/^href,/);
  expect(stderr).toMatch(/not complete|Incomplete|missing/i);
});

it("a name that ends in .sqlite makes one file of all tables, with keys and full-text search", async () => {
  const args = ["export", "--mirror", rig.file, "--out", placeOf("all.sqlite")];
  const { stdout, exitCode } = await callArmoire(args);
  expect([exitCode, stdout]).toEqual([
    0,
    expect.stringMatching(/^brand {2}\d+ rows\n(.*\n)*Written to .*all\.sqlite \(run 1, ended .* UTC\)\n$/),
  ]);
  const db = new Database(placeOf("all.sqlite"), { readonly: true });
  const tables = db.prepare("select name from sqlite_schema where name not glob '*_*'").pluck().all();
  expect(tables).toEqual(expect.arrayContaining(["brand", "model", "size"]));
  expect(db.prepare("select count(*) from model_fts").pluck().get()).toBeGreaterThan(0);
  expect(db.pragma("foreign_key_list(model)")).toMatchObject([{ from: "brand_href", table: "brand" }]);
  db.close();
  await callArmoire([...args, "--table", "size,brand"]);
  const chosen = new Database(placeOf("all.sqlite"), { readonly: true });
  expect(
    chosen.prepare("select name from sqlite_schema where name in ('brand', 'model', 'size')").pluck().all(),
  ).toEqual(["brand", "size"]);
  chosen.close();
});

it("{date} and {run} are replaced in the name of a file, and --where and --column apply", async () => {
  await exportBrands("--out", placeOf("brands-{run}.csv"), "--column", "name,href", "--where", "false");
  expect(readFileSync(placeOf("brands-1.csv"), "utf8")).toBe("name,href\n");
});

it("a condition that is none ends in one line and a hint", async () => {
  for (const [sql, line] of [
    ["true) or (1", /^armoire: "true\) or \(1" is not a condition: .*\n.*\n$/],
    ["nmae = 'Anita'", /^armoire: SQLite rejects the statement: no such column: nmae\.\n.*\n$/],
  ] as const) {
    const { exitCode, stdout, stderr } = await exportBrands("--out", placeOf("none.csv"), "--where", sql);
    expect([exitCode, stdout, stderr]).toEqual([2, "", expect.stringMatching(line)]);
    expect(existsSync(placeOf("none.csv"))).toBe(false);
  }
});

it("a condition that takes longer than --timeout ends in one line, and the hint names nothing that export lacks", async () => {
  const endless =
    "exists (with recursive n(x) as (values (1) union all select x + 1 from n) select x from n where x < 0)";
  const { exitCode, stdout, stderr } = await exportBrands(
    ...["--out", placeOf("none.csv"), "--where", endless, "--timeout", "1"],
  );
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toBe(
    "armoire: The query took longer than 1 s and was stopped.\nNarrow it with WHERE or LIMIT, or allow it more time.\n",
  );
  expect(existsSync(placeOf("none.csv"))).toBe(false);
});

it("--json describes the file", async () => {
  const file = placeOf("described.csv");
  const { stdout } = await exportBrands("--out", file, "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    file,
    table: "brand",
    format: "csv",
    rows: 3,
    state: { run: 1 },
  });
});

it("a mirror, a folder and a link are not replaced", async () => {
  const before = readFileSync(rig.file);
  expect(await exportBrands("--out", rig.file)).toMatchObject({
    ...{ exitCode: 2, stderr: expect.stringContaining("is a database of a program, such as a mirror.") },
  });
  expect(readFileSync(rig.file).equals(before)).toBe(true);
  const schedules = join(dirname(rig.file), "schedules.json");
  expect(await exportBrands("--out", schedules)).toMatchObject({
    ...{ exitCode: 2, stderr: expect.stringContaining("is the place of one of Armoire's own files.\n") },
  });
  expect(existsSync(schedules)).toBe(false);
  mkdirSync(placeOf("taken.csv"));
  symlinkSync(rig.file, placeOf("link.csv"));
  for (const name of ["taken.csv", "link.csv"])
    expect(await exportBrands("--out", placeOf(name))).toMatchObject({
      ...{ exitCode: 2, stderr: expect.stringContaining("is not a regular file.") },
    });
});

it("a file of a catalogue has the modes that the umask allows, and nothing is left beside it", async () => {
  const file = placeOf("shared/brands.csv");
  mkdirSync(dirname(file));
  const umask = process.umask(0o022);
  await exportTable({ file: rig.file, table: "brand", format: "csv", out: file }).finally(() =>
    process.umask(umask),
  );
  expect(statSync(file).mode & 0o777).toBe(0o644);
  await expect(
    exportTable({
      ...{ file: rig.file, table: "brand", format: "csv", out: file },
      signal: AbortSignal.abort(new Error("interrupted")),
    }),
  ).rejects.toThrow("interrupted");
  expect(readFileSync(file).equals(inFolder("brand.csv"))).toBe(true);
  expect(readdirSync(dirname(file))).toEqual(["brands.csv"]);
  chmodSync(file, 0o600);
});

it("a file in place of a folder ends in one line", async () => {
  writeFileSync(placeOf("file"), "");
  const { exitCode, stderr } = await exportBrands("--out", placeOf("file/new/brands.csv"));
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^armoire: Cannot write .*brands\.csv: ENOTDIR/);
});

const base = { out: "brands.csv", table: ["brand"] } as const;

it.each([
  [{ ...base, table: [] }, /is for one table/],
  [{ ...base, table: ["brand", "model"] }, /is for one table/],
  [{ out: "all.sqlite", table: [], license: "CC0-1.0" }, /are stated in a folder/],
  [{ out: "-", table: [] }, /is for one table/],
  [{ ...base, format: "json" }, /contradict each other/],
  [{ ...base, format: "csv,json" }, /contradict each other/],
  [{ ...base, compress: "gzip" }, /contradict each other/],
  [{ ...base, out: "brands.csv.gz", compress: "zstd" }, /contradict each other/],
  [{ ...base, out: "brands.parquet.gz" }, /not parquet/],
  [{ ...base, out: "brands.sqlite.zst" }, /not sqlite/],
  [{ ...base, out: "-", format: "parquet" }, /needs one format/],
  [{ ...base, out: "-", format: "csv,json" }, /needs one format/],
  [{ ...base, out: "-", compress: "gzip" }, /contradict each other/],
  [{ ...base, license: "CC0-1.0" }, /--license and --citation/],
  [{ ...base, out: "folder", format: "parquet", compress: "gzip" }, /not parquet/],
  [{ ...base, out: "folder", format: "xml" }, /Unknown export format/],
] as const)("%j is refused", (flags, message) => {
  expect(() => readTarget(flags, { json: false })).toThrow(
    expect.objectContaining({ kind: "usage", message: expect.stringMatching(message) }),
  );
});

it("a name without an ending, or that ends in a slash, is that of a folder", () => {
  for (const out of ["brands", "catalogue-2026.11", "x-{date}", "x.{run}", ".exports", ".csv.d/x", "a.csv/"])
    expect(readTarget({ ...base, out }, { json: false })).toMatchObject({
      ...{ kind: "folder", path: out, formats: ["csv", "json"] },
    });
  mkdirSync(placeOf("here.d"));
  expect(readTarget({ ...base, out: placeOf("here.d") }, { json: false })).toMatchObject({ kind: "folder" });
  expect(readTarget({ ...base, out: "A.CSV.GZ", compress: "gzip" }, { json: true })).toMatchObject({
    ...{ kind: "file", format: "csv", compression: "gzip" },
  });
});

it.each(["model.csv.gzip", "x.parquet.zst", "x.xlsx", "x.csv.d", "x.gz", "x.db"])(
  "%s has an unknown ending, and is not made as a folder",
  async (name) => {
    const { exitCode, stderr } = await exportBrands("--out", placeOf(name));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^armoire: .*ending|^armoire: Only /);
    expect(stderr.trim().split("\n")).toHaveLength(2);
    expect(existsSync(placeOf(name))).toBe(false);
  },
);
