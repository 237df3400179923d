/** What an export of a mirror is called, which tables it has, and when it is left as it is. */
import { appendFileSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import type { ExportFormat } from "../../exports/formats/table.ts";
import { readDataPackage } from "../../exports/package/read-package.ts";
import { verifyDataPackage } from "../../exports/package/verify/verify-package.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 3, models: 6, sizes: 9 });
  await rig.sync();
});
afterAll(() => rig[Symbol.asyncDispose]());

const exportTo = (name: string, formats: readonly ExportFormat[] = ["csv"], tables: readonly string[] = []) =>
  exportMirror({ file: rig.file, out: join(dirname(rig.file), name), formats, tables, toolVersion: "0.1.0" });

it("{run} and {date} in the last part of a path become the run and the UTC date of its end", async () => {
  const { folder, state } = await exportTo("catalogue-{date}-run-{run}");
  expect(basename(folder)).toBe(`catalogue-${state.endedAt?.slice(0, 10)}-run-1`);
  expect(existsSync(folder)).toBe(true);
  for (const name of ["{date}/catalogue", "catalogue-{day}", relative(dirname(rig.file), "/")])
    await expect(exportTo(name)).rejects.toMatchObject({ code: "bad-folder-name" });
});

it("an export of the same state leaves the folder as it is; of another choice, it replaces the folder", async () => {
  const first = await exportTo("same", ["csv", "sqlite"]);
  expect(first.isUnchanged).toBe(false);
  const { ino } = statSync(first.folder);
  expect(await exportTo("same", ["csv", "sqlite"])).toEqual({ ...first, isUnchanged: true });
  expect(statSync(first.folder).ino).toBe(ino);
  expect((await exportTo("same", ["csv"])).isUnchanged).toBe(false);
  const inFolder = readdirSync(dirname(rig.file)).filter((name) => name.includes("partial"));
  expect(inFolder).toEqual([]);
});

it("an export whose files were changed is replaced, though the state is the same", async () => {
  const { folder } = await exportTo("changed");
  appendFileSync(join(folder, "brand.csv"), "x");
  expect((await exportTo("changed")).isUnchanged).toBe(false);
  expect((await verifyDataPackage(folder)).problems).toEqual([]);
});

it("a table without rows has no file unless it is named, and is read back as an empty table", async () => {
  const { folder, files, emptyTables } = await exportTo("without-relations");
  expect(files.map(({ table }) => table)).not.toContain("relation");
  expect(emptyTables?.map(({ name }) => name)).toEqual(["relation"]);
  const { tables } = await readDataPackage(folder);
  const relation = tables.find(({ name }) => name === "relation");
  expect(relation?.columns).toContain("related_href");
  expect([...(relation?.rows() ?? [])]).toEqual([]);
  const named = await exportTo("relations", ["csv"], ["relation"]);
  expect(named.files.map(({ path, rows }) => [path, rows])).toEqual([["relation.csv", 0]]);
});

it("verifying an export finds changed, missing and added files in every format", async () => {
  const { folder } = await exportTo("verified", ["parquet", "sqlite", "ndjson"]);
  expect((await verifyDataPackage(folder)).problems).toEqual([]);
  appendFileSync(join(folder, "tables.sqlite"), "x");
  writeFileSync(join(folder, "brand.parquet"), "");
  writeFileSync(join(folder, "notes.txt"), "");
  expect((await verifyDataPackage(folder)).problems).toEqual([
    { path: "brand.parquet", code: "wrong-size" },
    { path: "tables.sqlite", code: "wrong-size" },
    { path: "notes.txt", code: "not-listed" },
  ]);
});

it("a run without changes makes no new export of the same state", async () => {
  await using checked = await startRig({ brands: 2, models: 3, sizes: 4 });
  await checked.sync();
  const exportChecked = () =>
    exportMirror({
      ...{ file: checked.file, out: join(dirname(checked.file), "of-{run}"), formats: ["csv"], tables: [] },
      toolVersion: "0.1.0",
    });
  const first = await exportChecked();
  checked.sandbox.moveClock({ advanceSeconds: 86_400 });
  await checked.sync({ mode: "full" });
  const second = await exportChecked();
  expect([second.folder, second.isUnchanged]).toEqual([first.folder, true]);
});

it("a descriptor that is not JSON is damage", async () => {
  const { folder } = await exportTo("cut-descriptor");
  writeFileSync(join(folder, "datapackage.json"), "{");
  await expect(verifyDataPackage(folder)).rejects.toMatchObject({
    code: "damaged-package",
    kind: "rejected",
  });
});
