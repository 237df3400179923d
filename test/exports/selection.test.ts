/** Exports of some rows and columns. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import Database from "better-sqlite3";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ExportMirrorRequest, exportMirror } from "../../exports/export-mirror.ts";
import { readDataPackage } from "../../exports/package/read-package.ts";
import { requireCondition } from "../../exports/row-condition.ts";
import { openFolderSource } from "../../src/change/sources.ts";
import type { Point } from "../../src/mirror/points/point.ts";
import { publicTables } from "../../src/mirror/public-tables.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../mirror/support/world.ts";
import { runQueryHere } from "../query/support/in-this-process.ts";
import { tries } from "../support/thorough.ts";
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

it("--column exports these columns in their order, and the tables that have them, without keys that are not whole", async () => {
  const { folder, files } = await exportTo("columns", {
    columns: ["band", "cup", "brand_href"],
    formats: ["csv"],
  });
  expect(files.map(({ path, columns }) => [path, columns])).toEqual([
    ["model.csv", ["brand_href"]],
    ["size.csv", ["band", "cup", "brand_href"]],
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
  const revised = changing.read(({ db }) =>
    db
      .prepare(
        `select url from _resource r where kind in ('brand', 'model', 'size') and exists
         (select 1 from _revision v where v.resource_id = r.id and (from_run > 1 or to_run > 1))`,
      )
      .pluck()
      .all(),
  ) as string[];
  expect(exported.sort()).toEqual(revised.sort());
  expect(exported.length).toBeGreaterThan(0);
  expect(exported.length).toBeLessThan(21);
  const textOf = (row: object) => inspect(row);
  const [before, after] = await Promise.all(
    ([{ asOf: since }, {}] as const).map(async (at, index) => {
      const out = join(changing.file, "..", `whole-${index}`);
      const { folder: whole } = await exportMirror({
        ...{ file: changing.file, out, formats: ["ndjson"], tables: ["brand", "model", "size"] },
        ...{ toolVersion: "0.1.0", ...at },
      });
      return Object.values(await readRows(whole)).flat();
    }),
  );
  const known = new Set(before?.map(textOf));
  const changed = after?.filter((row) => !known.has(textOf(row))).map(({ href }) => href);
  expect(exported).toEqual(expect.arrayContaining(changed ?? []));
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

const where = (sql: string) => ({ sql, run: runQueryHere });

it("--where exports the rows that meet a condition, of each table, and says so", async () => {
  for (const [table, sql] of [
    ["size", "band > 70 and href like '%/%' -- comment"],
    ["model_picture", "n = 0 /* ; */"],
    ["relation", "name = 'related' and href < (select max(href) from model)"],
    ["brand", "(checked_at is not null) or name = ';)'"],
    ["model", "false"],
  ] as const) {
    const { folder, state, files } = await exportTo(`where-${table}`, { tables: [table], where: where(sql) });
    expect(state.where).toBe(sql);
    expect(readFileSync(join(folder, "README.md"), "utf8")).toContain(`condition:\n\n    ${sql}`);
    const held = rig.read(({ db }) =>
      db.prepare(`select count(*) from ${table} where ${sql}\n`).pluck().get(),
    );
    expect(files.map(({ rows }) => rows)).toEqual([held]);
    await expect(openFolderSource(folder)).rejects.toMatchObject({ code: "not-comparable" });
  }
});

it("--where with --as-of is about that state, and --brand and --column apply as well", async () => {
  await using changing = await startRig({ brands: 3, models: 6, sizes: 12 });
  await changing.sync();
  changing.sandbox.advance({ changes: 3 });
  await changing.sync({ mode: "full" });
  const db = new Database(changing.file);
  db.exec("update _brand set name = 'later' where id = (select min(id) from _brand)");
  db.close();
  const rowsAt = async (asOf: Point | undefined, columns: string[]) => {
    const { folder } = await exportMirror({
      ...{
        file: changing.file,
        out: join(changing.file, "..", "at"),
        formats: ["ndjson"],
        tables: ["brand"],
      },
      ...{ toolVersion: "0.1.0", where: where("name <> 'later'"), columns, ...(asOf && { asOf }) },
    });
    return (await readRows(folder)).brand;
  };
  expect((await rowsAt(undefined, ["slug"]))?.map((row) => Object.keys(row))).toEqual([["slug"], ["slug"]]);
  const earlier = await rowsAt({ kind: "run", run: 1 }, []);
  expect(earlier?.length).toBeGreaterThanOrEqual(2);
});

it("--where needs exactly one table", async () => {
  for (const tables of [[], ["brand", "model"]])
    await expect(exportTo("x", { tables, where: where("true") })).rejects.toMatchObject({
      code: "bad-condition",
      hint: "Give exactly one --table with --where, and no envelopes: `armoire query` selects those with envelope(href).",
    });
});

it("a condition that SQLite rejects is refused with its words and a similar name", async () => {
  for (const [sql, message] of [
    ["bnad > 70", /no such column: bnad/],
    ["band >", /syntax error/],
    ["", /syntax error/],
    ["count(*) > 1", /aggregate/],
    ["band, cup", /row value/],
  ] as const)
    await expect(exportTo("x", { tables: ["size"], where: where(sql) })).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringMatching(message),
    });
  await expect(exportTo("x", { tables: ["size"], where: where("bandd > 70") })).rejects.toMatchObject({
    hint: expect.stringMatching(/^Did you mean .*\bband\b/),
  });
  expect(existsSync(join(rig.file, "..", "x"))).toBe(false);
});

it.each([
  "1) or (1",
  "true) union select href from brand --",
  "true) limit 1 --",
  "true; delete from brand",
  "true /* ",
  "true) /*",
  "'a",
  '"a',
  "[a",
  "`a",
  "(true",
  "'a'') or (1=1'')",
  "band = ?",
  "band = :band",
  "band = $band",
])("%j is no condition and is refused before it is run", async (sql) => {
  const run = () => Promise.reject(new Error("it was run"));
  await expect(exportTo("x", { tables: ["size"], where: { sql, run } })).rejects.toMatchObject({
    code: "bad-condition",
    kind: "usage",
  });
});

it("whatever the text, it is refused or it is one expression of SQLite", () => {
  const db = new Database(":memory:");
  db.exec("create table t (a, b)");
  const part = fc.constantFrom(
    ...["a", "b", "1", "'", '"', "`", "[", "]", "(", ")", ";", "--", "/*", "*/", "\n", " ", "or", "=", ","],
    ...["union select 1", "limit 0", "order by 1", "\\", "''", "$", "é", "x'00'"],
  );
  const parses = (sql: string) => {
    try {
      return db.prepare(sql).columns().length > 0;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const sql = parts.join("");
      try {
        requireCondition(sql);
      } catch {
        return;
      }
      // As the argument of a function, only one expression is valid: no second clause fits in.
      if (parses(`select a from t where (\n${sql}\n)`))
        expect(parses(`select coalesce((\n${sql}\n), 1) from t group by a`)).toBe(true);
    }),
    { numRuns: tries(1_000, 50_000) },
  );
  db.close();
});

it("a condition is evaluated in the state that is exported, while others write the mirror", async () => {
  await using writing = await startRig({ brands: 3, models: 3, sizes: 3 });
  await writing.sync();
  const db = new Database(writing.file);
  const rename = db.prepare("update _brand set name = ? where id = (select min(id) from _brand)");
  let writes = 0;
  const exportWhile = (times: number) =>
    exportMirror({
      ...{ file: writing.file, out: join(writing.file, "..", "out"), formats: ["ndjson"], tables: ["brand"] },
      toolVersion: "0.1.0",
      where: {
        sql: "name like 'new %'",
        run: async (select) => {
          const result = await runQueryHere(select);
          if (writes < times) rename.run(`new ${++writes}`);
          return result;
        },
      },
    });
  expect((await exportWhile(1)).files[0]?.rows).toBe(1);
  await expect(exportWhile(Number.POSITIVE_INFINITY)).rejects.toMatchObject({ code: "changing" });
  db.close();
});

it("unknown tables, columns and brands are refused with similar names", async () => {
  await expect(exportTo("x", { tables: ["model_pictures"] })).rejects.toMatchObject({
    hint: expect.stringMatching(/^Did you mean model_picture/),
  });
  await expect(exportTo("x", { columns: ["hreff"] })).rejects.toMatchObject({ code: "bad-selection" });
  await expect(exportTo("x", { brands: ["no such brand"] })).rejects.toMatchObject({ code: "bad-selection" });
});

it("--changed-since exports the sizes of a model that went to another brand", async () => {
  await using rig = await startMirrorRig();
  const model = (brand: string) => entity({ name: "m" }, { sizes: urlOf("sizes/"), brand: urlOf(brand) });
  const world = worldOf({
    "/": root(),
    "brands/": page(["brands/1/", "brands/2/"], null),
    "brands/1/": entity({ name: "one" }, { models: urlOf("models/") }),
    "brands/2/": entity({ name: "two" }, { models: urlOf("none/") }),
    "none/": page([], null),
    "models/": page(["models/1/", "models/2/"], null),
    "models/1/": model("brands/1/"),
    "models/2/": entity({ name: "n" }, { sizes: urlOf("none/"), brand: urlOf("brands/1/") }),
    "sizes/": page(["sizes/1/"], null),
    "sizes/1/": entity({ size: "70C" }, { model: urlOf("models/1/") }),
  });
  const mirror = await rig.write();
  crawl(mirror, world);
  const changed = () =>
    rig.read((reader) =>
      publicTables(reader, { changedAfterRun: 1, columns: ["href"] }).flatMap(({ rows }) =>
        [...rows()].flat(),
      ),
    );
  expect(changed()).toEqual([]);
  world.set(urlOf("models/1/"), JSON.stringify(model("brands/2/")));
  crawl(mirror, world);
  expect(changed()).toEqual([urlOf("models/1/"), urlOf("sizes/1/")]);
});
