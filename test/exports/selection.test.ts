/** Exports of some rows and columns. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ExportMirrorRequest, exportMirror } from "../../exports/export-mirror.ts";
import { readDataPackage } from "../../exports/package/read-package.ts";
import { openFolderSource } from "../../src/change/sources.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 4, models: 12, sizes: 30 });
  await rig.sync({ follow: ["related"] });
});
afterAll(() => rig[Symbol.asyncDispose]());

const exportTo = (name: string, more: Partial<ExportMirrorRequest>) =>
  exportMirror({
    ...{
      file: rig.file,
      out: join(rig.file, "..", name),
      formats: ["ndjson"],
      tables: [],
      toolVersion: "0.1.0",
    },
    ...more,
  });

/** The rows of an export, by table and column. */
async function readRows(folder: string): Promise<Record<string, Record<string, unknown>[]>> {
  const { tables } = await readDataPackage(folder);
  return Object.fromEntries(
    tables.map(({ name, columns, rows }) => [
      name,
      [...rows()].map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]]))),
    ]),
  );
}

it("--brand exports the rows of a brand, its models, pictures, sizes and relations", async () => {
  const slug = rig.read(({ db }) =>
    db
      .prepare(
        "select b.slug from model m join brand b on b.href = m.brand_href group by 1 order by count(*) desc limit 1",
      )
      .pluck()
      .get(),
  ) as string;
  const brand = rig.read(({ db }) => db.prepare("select href from brand where slug = ?").pluck().get(slug));
  const { folder, state } = await exportTo("of-brand", { brands: [slug] });
  expect(state.brands).toEqual([brand]);
  const { brand: brands, model = [], size = [], model_picture: pictures = [] } = await readRows(folder);
  expect(brands?.map(({ href }) => href)).toEqual([brand]);
  const held = (table: string) =>
    rig.read(({ db }) =>
      db.prepare(`select href from ${table} where brand_href = ? order by href`).pluck().all(brand),
    );
  expect(model.map(({ href }) => href)).toEqual(held("model"));
  expect(size.map(({ href }) => href)).toEqual(held("size"));
  expect(model.length).toBeGreaterThan(0);
  expect(pictures.every(({ model_href }) => held("model").includes(model_href))).toBe(true);
  expect(readFileSync(join(folder, "README.md"), "utf8")).toContain("Only rows of these brands");
});

it("--column exports these columns, and the tables that have them, without keys that are not whole", async () => {
  const { folder, files } = await exportTo("columns", {
    columns: ["band", "cup", "brand_href"],
    formats: ["csv"],
  });
  expect(files.map(({ path, columns }) => [path, columns])).toEqual([
    ["model.csv", ["brand_href"]],
    ["size.csv", ["brand_href", "band", "cup"]],
  ]);
  const duck = await (await DuckDBInstance.create(":memory:")).connect();
  await duck.run(`set file_search_path = '${folder}'`);
  await duck.run(readFileSync(join(folder, "load.sql"), "utf8"));
  const count = await duck.runAndReadAll("select count(*)::integer as n from size");
  expect(count.getRowObjectsJson()).toEqual([{ n: 30 }]);
});

it("--changed-since exports the rows of resources that changed after a point", async () => {
  await using changing = await startRig({ brands: 3, models: 6, sizes: 12 });
  await changing.sync();
  changing.sandbox.advance({ changes: 3 });
  await changing.sync({ mode: "full" });
  const since = { kind: "run", run: 1 } as const;
  const { folder } = await exportMirror({
    ...{
      file: changing.file,
      out: join(changing.file, "..", "changed"),
      formats: ["ndjson"],
      tables: ["brand", "model", "size"],
    },
    ...{ toolVersion: "0.1.0", changedSince: since },
  });
  const rows = await readRows(folder);
  const exported = Object.values(rows).flatMap((table) => table.map(({ href }) => href as string));
  const changed = changing.read(({ db }) =>
    db
      .prepare(
        `with changed as (select url from _resource r join _revision v on v.resource_id = r.id where from_run > 1 or to_run > 1)
         select href from brand where href in changed union select href from model where href in changed
         union select href from size where href in changed or model_href in changed`,
      )
      .pluck()
      .all(),
  ) as string[];
  expect(exported.sort()).toEqual(changed.sort());
  expect(exported.length).toBeGreaterThan(0);
  expect(exported.length).toBeLessThan(21);
});

it("the coverage of an export of some columns is that of the tables that have them", async () => {
  const { coverage } = await exportTo("sizings", { columns: ["default_sizing_name"] });
  const kinds = coverage?.kinds.map(({ kind }) => kind);
  expect(kinds).toContain("brand");
  expect(kinds).not.toContain("size");
});

it("an export of some rows is not compared", async () => {
  const { folder } = await exportTo("compared", { changedSince: { kind: "run", run: 1 } });
  await expect(openFolderSource(folder)).rejects.toMatchObject({ code: "not-comparable" });
});

it("unknown tables, columns and brands are refused with similar names", async () => {
  await expect(exportTo("x", { tables: ["model_pictures"] })).rejects.toMatchObject({
    hint: expect.stringMatching(/^Did you mean model_picture/),
  });
  await expect(exportTo("x", { columns: ["hreff"] })).rejects.toMatchObject({ code: "bad-selection" });
  await expect(exportTo("x", { brands: ["no such brand"] })).rejects.toMatchObject({ code: "bad-selection" });
});
