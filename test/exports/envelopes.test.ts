/** The table `envelope`: responses as sent, in files that other programs read. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ExportMirrorRequest, exportMirror } from "../../exports/export-mirror.ts";
import { exportTable } from "../../exports/export-table.ts";
import { openDiff } from "../../src/change/open-diff.ts";
import { openFolderSource } from "../../src/change/sources.ts";
import { publicTables } from "../../src/mirror/public-tables.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 3, models: 6, sizes: 12 });
  await rig.sync();
  rig.sandbox.advance({ changes: 3 });
  await rig.sync({ mode: "full" });
});
afterAll(() => rig[Symbol.asyncDispose]());

const placeOf = (name: string) => join(dirname(rig.file), name);
const exportTo = (name: string, more: Partial<ExportMirrorRequest> = {}) =>
  exportMirror({
    ...{ file: rig.file, out: placeOf(name), formats: ["ndjson"], tables: [], toolVersion: "0.1.0" },
    ...{ withEnvelopes: true, ...more },
  });

interface EnvelopeRow {
  readonly href: string;
  readonly kind: string;
  readonly fetched_at: string;
  readonly status: number;
  readonly etag: string | null;
  readonly sent_at: string | null;
  readonly body: string;
}

const rowsIn = (folder: string): EnvelopeRow[] =>
  readFileSync(join(folder, "envelope.ndjson"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as EnvelopeRow);

it("an export has envelopes only on request", async () => {
  const { files } = await exportTo("without", { withEnvelopes: false });
  expect(files.map(({ table }) => table)).not.toContain("envelope");
});

it("each resource has its last response, byte for byte, in the order of its URL", async () => {
  const rows = rowsIn((await exportTo("all")).folder);
  expect(rows.map(({ href }) => href)).toEqual(rows.map(({ href }) => href).sort());
  const known = rig.read(({ db }) =>
    db
      .prepare("select url from _resource r where exists (select 1 from _revision where resource_id = r.id)")
      .all(),
  );
  expect(rows).toHaveLength(known.length);
  const brands = rows.filter(({ kind }) => kind === "brand");
  const [brand] = brands;
  const response = await fetch(brand?.href ?? "", { headers: { accept: "application/json" } });
  expect(brand?.body).toBe(await response.text());
  const header = (name: string) => response.headers.get(name);
  expect(brand).toMatchObject({
    status: 200,
    etag: header("etag"),
    content_type: header("content-type"),
    link: null,
  });
  expect(new Date(brand?.sent_at ?? "").toISOString()).toBe(brand?.sent_at);
  expect(new Date(brand?.fetched_at ?? "").toISOString()).toBe(brand?.fetched_at);
});

it("DuckDB reads the bodies as JSON from CSV, Parquet and NDJSON, and SQLite has the table with its key", async () => {
  const { folder } = await exportTo("formats", { formats: ["csv", "parquet", "ndjson", "sqlite"] });
  const duck = await (await DuckDBInstance.create(":memory:")).connect();
  await duck.run(`set file_search_path = '${folder}'`);
  await duck.run(readFileSync(join(folder, "load.sql"), "utf8"));
  const named =
    "select count(*)::integer as n from SOURCE where kind = 'brand' and (body::json -> '$.body' ->> 'name') is not null";
  for (const source of ["envelope", "'envelope.parquet'", "'envelope.ndjson'"]) {
    const found = await duck.runAndReadAll(named.replace("SOURCE", source));
    expect(found.getRowObjectsJson()).toEqual([{ n: 3 }]);
  }
  const db = new Database(join(folder, "tables.sqlite"), { readonly: true });
  const sql = "select count(*) from envelope where kind = 'size' and body ->> '$.links' is not null";
  expect(db.prepare(sql).pluck().get()).toBe(12);
  expect(db.prepare("select name from pragma_table_info('envelope') where pk = 1").pluck().all()).toEqual([
    "href",
  ]);
  db.close();
});

it("--as-of gives the responses of that time with their headers", async () => {
  const [then, now] = [await exportTo("then", { asOf: { kind: "run", run: 1 } }), await exportTo("now")];
  const later = new Map(rowsIn(now.folder).map((row) => [row.href, row]));
  const changed = rowsIn(then.folder).filter(({ href, body }) => later.get(href)?.body !== body);
  expect(changed.length).toBeGreaterThan(0);
  for (const { href, etag, fetched_at, sent_at } of changed) {
    const current = later.get(href);
    expect(etag).toMatch(/"/);
    expect(etag).not.toBe(current?.etag);
    expect(fetched_at < (current?.fetched_at ?? "")).toBe(true);
    // Of whole seconds.
    expect((sent_at ?? "") <= (current?.sent_at ?? "")).toBe(true);
  }
});

it("--brand, --changed-since and --column apply to envelopes", async () => {
  const slug = rig.read(({ db }) => db.prepare("select slug from brand limit 1").pluck().get()) as string;
  const ofBrand = rowsIn((await exportTo("of-brand", { brands: [slug] })).folder);
  const hrefs = rig.read(({ db }) =>
    db
      .prepare(
        `with chosen as (select href from brand where slug = ?)
         select href from chosen union select href from model where brand_href in chosen
         union select href from size where brand_href in chosen order by 1`,
      )
      .pluck()
      .all(slug),
  );
  expect(ofBrand.map(({ href }) => href)).toEqual(hrefs);
  const since = rowsIn((await exportTo("since", { changedSince: { kind: "run", run: 1 } })).folder);
  expect(since.length).toBeGreaterThan(0);
  expect(since.length).toBeLessThan(rowsIn(placeOf("all")).length);
  const columns = rowsIn((await exportTo("columns", { columns: ["href", "status"] })).folder);
  expect(Object.keys(columns[0] ?? {})).toEqual(["href", "status"]);
});

it("the table can be named alone, and a named table can be joined by it", async () => {
  const alone = await exportTable({
    file: rig.file,
    table: "envelope",
    format: "json",
    out: placeOf("e.json"),
  });
  expect(alone.coverage.kinds.map(({ kind }) => kind)).toContain("size");
  expect(JSON.parse(readFileSync(placeOf("e.json"), "utf8"))).toEqual(rowsIn(placeOf("all")));
  const { files } = await exportTo("joined", { tables: ["brand"] });
  expect(files.map(({ table }) => table)).toEqual(["brand", "envelope"]);
  await expect(
    exportTo("x", { tables: ["envelope"], where: { sql: "true", run: () => Promise.reject(new Error()) } }),
  ).rejects.toMatchObject({ code: "bad-condition" });
});

it("an export with envelopes is compared as one without", async () => {
  const { folder } = await exportTo("compared");
  (await openFolderSource(folder)).close();
  const diff = await openDiff({
    ...{ kinds: [], brands: [], fields: [], ignored: [], mirror: rig.file },
    ...{ from: { kind: "export", path: folder } },
  });
  expect([[...diff.changes], diff.notCompared]).toEqual([[], []]);
  diff.close();
});

it("rows are read in the order of an index, so that no bodies are sorted", () => {
  for (const point of [undefined, { kind: "run", run: 1 } as const]) {
    const mirror = openMirrorReader(rig.file, point);
    const plans: string[] = [];
    const db = new Proxy(mirror.db, {
      get(target, name) {
        if (name !== "prepare") return Reflect.get(target, name, target) as unknown;
        return (sql: string) => {
          if (sql.includes("dictionaryId"))
            plans.push(
              ...target
                .prepare<[], { detail: string }>(`explain query plan ${sql}`)
                .all()
                .map(({ detail }) => detail),
            );
          return target.prepare(sql);
        };
      },
    });
    const [envelope] = publicTables({ ...mirror, db }, { withEnvelopes: true }).slice(-1);
    for (const _row of envelope?.rows() ?? []) break;
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.filter((detail) => detail.includes("TEMP B-TREE FOR ORDER BY"))).toEqual([]);
    mirror.close();
  }
});
