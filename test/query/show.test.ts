/** One resource on one page: what belongs to it, its last change, and where it comes from. */
import { copyFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { exportTable } from "../../exports/export-table.ts";
import { kinds } from "../../jobs/kinds.ts";
import { formatResource } from "../../src/cli/format/data/resource.ts";
import { compactMirror } from "../../src/mirror/compact.ts";
import { readMirror } from "../../src/mirror/reader.ts";
import { readBody, readProvenance } from "../../src/query/provenance.ts";
import { showResource } from "../../src/query/show.ts";
import { sync } from "../../src/sync/sync.ts";
import { expectUnreadable } from "../support/canary.ts";
import { rawResponse, startRawServer } from "../support/raw-server.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";
import { catalogueOf } from "./support/catalogue.ts";
import { collectRows } from "./support/collect-rows.ts";
import { runQueryHere } from "./support/in-this-process.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 3, models: 8, sizes: 60, pageSize: 3 });
  await rig.sync({ follow: ["related", "same_cut"] });
  rig.sandbox.moveClock({ advanceSeconds: 86_400 });
  rig.sandbox.advance({ changes: 12, additions: 0, removals: 0 });
  await rig.sync({ mode: "verify" });
});
afterAll(() => rig[Symbol.asyncDispose]());

const truthOf = (url: string) =>
  [...rig.sandbox.truth({ optional: true })].find((record) => record.url === url);
const show = (href: string) => rig.read((mirror) => showResource(mirror, "model", href));

it("a model comes with its brand, its sizes, its pictures and its related models", () => {
  const { models, sizes, relations } = catalogueOf(rig.sandbox);
  expect(models.length).toBeGreaterThan(0);
  for (const { href, brand, fields } of models) {
    const { model } = show(href);
    expect(model?.brand).toEqual({
      ...{ href: brand.href, name: brand.fields.name, system: brand.fields.default_sizing_system },
    });
    const own = sizes.filter((size) => size.model.href === href);
    expect(model?.sizes.map(({ bra_count, ...size }) => ({ ...size, bra_count: Number(bra_count) }))).toEqual(
      own
        .map((size) => ({
          ...{ href: size.href, size: size.fields.size, band: size.fields.band, cup: size.fields.cup },
          ...{ bra_count: size.bras, state: "held" },
        }))
        .sort((a, b) => (a.href < b.href ? -1 : 1)),
    );
    expect(model?.pictures).toEqual(fields.manufacturer_stock_pictures);
    const related = relations.filter(({ from }) => from === href).map(({ name, to }) => `${name} ${to}`);
    expect(model?.related.map((other) => `${other.name} ${other.href}`).sort()).toEqual(related.sort());
  }
});

it("a resource comes with the request that returned it, and the lists that name it", () => {
  const { models } = catalogueOf(rig.sandbox);
  for (const { href } of models) {
    const { source } = show(href);
    const pages = [...rig.sandbox.truth()]
      .filter(({ kind, body }) => kind === "models" && body.collection?.some((item) => item.href === href))
      .map(({ url }) => url);
    expect(source).toEqual({
      ...{ url: href, redirectedTo: null, status: 200 },
      ...{ run: expect.toBeOneOf([1, 2]), revision: expect.any(Number) },
      ...{ fetchedAt: expect.stringMatching(/^20.*Z$/), checkedAt: expect.stringMatching(/^20.*Z$/) },
      ...{ etag: expect.stringMatching(/"/), contentType: expect.stringMatching(/json/) },
      ...{ sentAt: expect.stringMatching(/^20.*Z$/), modifiedAt: null, link: null, gone: null },
      foundIn: pages.map((url) => ({ url, link: null })),
    });
  }
});

it("a Link header that came with a body is kept with it", async () => {
  const link = '<https://api.example.org/docs>; rel="help"';
  await using server = await startRawServer((_, socket) =>
    socket.write(
      rawResponse(
        200,
        { "content-type": "application/json", link },
        '{"rel":"resource","links":{},"body":{}}',
      ),
    ),
  );
  await using folder = await temporaryFolder();
  const file = join(folder.path, "catalogue.sqlite");
  const baseUrl = `${server.origin}/`;
  await sync({ file, baseUrl, serviceName: "service", clock: rig.clock });
  expect(readMirror(file, (mirror) => readProvenance(mirror, baseUrl))).toMatchObject({ link, status: 200 });
  const out = join(folder.path, "envelope.json");
  await exportTable({ file, table: "envelope", format: "json", out });
  expect(JSON.parse(readFileSync(out, "utf8"))).toEqual([expect.objectContaining({ link })]);
});

it("the last change has the changed fields, and is null without one", () => {
  const changes = catalogueOf(rig.sandbox).models.map(({ href, fields }) => {
    const { lastChange, source } = show(href);
    expect(lastChange === null ? 1 : lastChange.run).toBe(source.run);
    for (const { field, after } of lastChange?.changes ?? [])
      if (field === "last_modified_at") expect(after).toBe(fields.last_modified_at);
    return lastChange;
  });
  expect(new Set(changes.map((change) => change === null))).toEqual(new Set([true, false]));
});

it("as of a run, a resource has the source and the change of that time", () => {
  for (const { href } of catalogueOf(rig.sandbox).models) {
    const past = readMirror(rig.file, (mirror) => showResource(mirror, "model", href), {
      kind: "run",
      run: 1,
    });
    expect(past.lastChange).toBe(null);
    expect(past.source).toMatchObject({ run: 1, revision: 1, etag: expect.stringMatching(/"/) });
  }
});

it("the newest revision has the ETag of its resource, also if an earlier absence noted another", async () => {
  await using other = await startRig({ brands: 1, models: 1, sizes: 1 });
  await other.sync();
  const href = other.read(({ db }) => db.prepare<[], string>("select href from brand").pluck().get() ?? "");
  const db = new Database(other.file);
  db.exec(`update _revision set etag = '"noted"'; update _resource set etag = '"newest"'`);
  db.close();
  const etag = () => other.read((mirror) => showResource(mirror, "brand", href).source.etag);
  expect(etag()).toBe('"newest"');
  const gone = new Database(other.file);
  gone.exec("update _resource set etag = null");
  gone.close();
  expect(etag()).toBe('"noted"');
});

it("a body is printed as the service sent it, also that of a run", () => {
  for (const { href } of catalogueOf(rig.sandbox).models) {
    const body = rig.read((mirror) => readBody(mirror, "model", href));
    expect(JSON.parse(body.toString())).toEqual(truthOf(href)?.body);
    const before = readMirror(rig.file, (mirror) => readBody(mirror, "model", href), { kind: "run", run: 1 });
    expect(before.equals(body)).toBe(show(href).source.run === 1);
  }
});

it("the SQL function envelope returns bodies as sent, also as of a run", async () => {
  const sql =
    "select href, envelope(href), envelope('x'), envelope(null), envelope(5) from model order by href";
  for (const run of [1, 2]) {
    const asOf = { kind: "run", run } as const;
    const rows = await collectRows((await runQueryHere({ file: rig.file, sql, asOf })).rows);
    expect(rows.length).toBeGreaterThan(0);
    for (const [href, ...cells] of rows) {
      const body = readMirror(rig.file, (mirror) => readBody(mirror, "model", String(href)), asOf);
      expect(cells).toEqual([body.toString(), null, null, null]);
    }
  }
  const latest = await collectRows((await runQueryHere({ file: rig.file, sql })).rows);
  expect(latest.map(([, body]) => JSON.parse(String(body)))).toEqual(
    latest.map(([href]) => truthOf(String(href))?.body),
  );
});

it("the SQL function envelope reads compressed bodies and the catalogue, and fails on other files", async () => {
  const file = join(dirname(rig.file), "compressed.sqlite");
  copyFileSync(rig.file, file);
  await compactMirror({ file, kinds, openedAt: "2030-01-01T00:00:00.000Z" });
  const codecs = "select distinct codec from _content where dictionary_id is not null";
  expect(await collectRows((await runQueryHere({ file, sql: codecs })).rows)).toEqual([["deflate"]]);
  const sql = "select href, envelope(href) from brand order by href";
  const before = await collectRows((await runQueryHere({ file: rig.file, sql })).rows);
  expect(await collectRows((await runQueryHere({ file, sql })).rows)).toEqual(before);
  const other = join(dirname(rig.file), "other.sqlite");
  new Database(other).exec("create table t (x); insert into t values ('a')").close();
  const fromCatalogue = "select href, envelope(href) from catalogue.brand order by href";
  await expect(
    runQueryHere({ file: other, sql: "select envelope(x) from t" }).then(({ rows }) => collectRows(rows)),
  ).rejects.toMatchObject({
    name: "QueryError",
    message: expect.stringMatching(/^envelope\(\) failed: no such table/),
  });
  await using account = await startRig({});
  await account.sync();
  const rows = (await runQueryHere({ file: account.file, catalogue: rig.file, sql: fromCatalogue })).rows;
  expect(await collectRows(rows)).toEqual(before);
});

it("a damaged body is reported as damage by envelope and by readBody", async () => {
  const file = join(dirname(rig.file), "damaged.sqlite");
  expectUnreadable(file);
  copyFileSync(rig.file, file);
  new Database(file).exec("update _content set codec = 'unknown'").close();
  const envelopes = runQueryHere({ file, sql: "select envelope(href) from model" });
  await expect(envelopes.then(({ rows }) => collectRows(rows))).rejects.toMatchObject({
    ...{ name: "QueryError", code: "damaged" },
    message: expect.stringMatching(/^envelope\(\) failed: the body is stored with the unknown codec/),
  });
  const [{ href } = { href: "" }] = catalogueOf(rig.sandbox).models;
  expect(() => readMirror(file, (mirror) => readBody(mirror, "model", href))).toThrow(
    expect.objectContaining({ name: "MirrorError", code: "damaged" }),
  );
});

it("the page of a model is readable", () => {
  const { models, sizes } = catalogueOf(rig.sandbox);
  const largest = models.toSorted(
    (a, b) =>
      sizes.filter(({ model }) => model === b).length - sizes.filter(({ model }) => model === a).length,
  )[0];
  const text = formatResource(show(largest?.href ?? ""));
  const own = sizes.filter(({ model }) => model === largest);
  expect(text).toMatch(new RegExp(`^brand +${largest?.brand.fields.name}\n`));
  const [, header = ""] = text.match(/\nSizes \(bras that users own of each, ..\):\n(band .*)\n/) ?? [];
  expect(header.split(/ +/).sort()).toEqual(["band", ...new Set(own.map(({ fields }) => fields.cup))].sort());
  for (const { fields } of own) expect(text).toMatch(new RegExp(`\n *${fields.band}  .*\\d`));
  expect(text).toMatch(/\nSource:\n {2}request \(GET\) +http.*\n {2}response +status 200, run \d, /);
  expect(text).toMatch(/\n {2}found in +http/);
});

it("sizes that are only listed are shown as not fetched", async () => {
  await using partial = await startRig({ brands: 1, models: 1, sizes: 4 });
  await partial.sync({ budget: 6 });
  const [model] = catalogueOf(partial.sandbox).models;
  const { model: parts, ...shown } = partial.read((mirror) =>
    showResource(mirror, "model", model?.href ?? ""),
  );
  const states = parts?.sizes.map(({ state }) => state);
  expect(states).toHaveLength(4);
  expect(states).toEqual(expect.arrayContaining(["listed"]));
  expect(formatResource({ ...shown, ...(parts && { model: parts }) })).toMatch(/\nNot fetched yet: \d+\w/);
});
