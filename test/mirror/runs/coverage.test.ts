/** The coverage that a run stores when it closes, and what is read from it. */
import { expect, it } from "vitest";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { type Coverage, readCoverage, readCoverageOfBrands } from "../../../src/mirror/runs/coverage.ts";
import type { DueResource } from "../../../src/mirror/scope.ts";
import { readStatus } from "../../../src/query/status/status.ts";
import { beginRun, closeRun, crawl, type MirrorRig, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, root, urlOf, type World, worldOf } from "../support/world.ts";

/** A brand with its list of models, which is empty and the same for all. */
const brand = (name: string) => entity({ name }, { models: urlOf("models/") });

const bodies = {
  "/": root(),
  "brands/": page(["brands/1/", "brands/2/", "brands/3/"], null),
  "brands/1/": brand("one"),
  "brands/2/": brand("two"),
  "brands/3/": brand("three"),
  "models/": page([], null),
};
const world: World = worldOf(bodies);

const coverageOf = (rig: MirrorRig, tables?: readonly string[]) =>
  rig.read((reader) => readCoverage(reader, tables));

function coverageAsOf(rig: MirrorRig, run: number): Coverage {
  const reader = openMirrorReader(rig.file, { kind: "run", run });
  try {
    return readCoverage(reader);
  } finally {
    reader.close();
  }
}

const kindIn = ({ kinds }: Coverage, name: string) => kinds.find(({ kind }) => kind === name);

const countStored = (rig: MirrorRig) =>
  rig.read(({ db }) => db.prepare("select count(coverage_json) from _run").pluck().get());

it("a run stores its coverage when it closes, with times that do not move afterwards", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const first = (due: readonly DueResource[]) => due.slice(0, 1);
  crawl(mirror, world, { choose: first, maxBatches: 3 });
  const then = coverageOf(rig);
  expect(then.complete).toBe(false);
  expect(kindIn(then, "brand")).toEqual({
    ...{ kind: "brand", known: 3, held: 1, due: 2, failed: 0, gone: 0, partial: 0, missingLinks: 0 },
    awaitingApproval: 0,
    ...{ oldestCheckAt: expect.any(String), newestCheckAt: expect.any(String) },
  });
  crawl(mirror, world);
  expect(coverageOf(rig).complete).toBe(true);
  expect(kindIn(coverageOf(rig), "brand")).toMatchObject({ known: 3, held: 3, due: 0 });
  expect(coverageAsOf(rig, 1)).toEqual(then);
  expect(countStored(rig)).toBe(2);
});

it("items of a followed list of unknown kind, which nothing fetches, leave a mirror complete", async () => {
  await using rig = await startMirrorRig();
  const withList = worldOf({
    ...bodies,
    "/": root({ brands: urlOf("brands/"), charts: urlOf("charts/") }),
    "charts/": page(["charts/1/"], null),
  });
  crawl(await rig.write(), withList, { follow: ["charts"] });
  expect(coverageOf(rig)).toMatchObject({ complete: true });
  expect(kindIn(coverageOf(rig), "?charts")).toMatchObject({ known: 1, held: 1 });
  expect(kindIn(coverageOf(rig), "?charts.item")).toBeUndefined();
  expect(rig.read(readStatus).complete).toBe(true);
});

it("the coverage of tables counts only the kinds that they are made of", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const withModels = { "brands/1/": entity({ name: "one" }, { models: urlOf("brands/1/models/") }) };
  const withoutLists = (due: readonly DueResource[]) => due.filter(({ kind }) => kind !== "models");
  crawl(mirror, worldOf({ ...bodies, ...withModels }), { choose: withoutLists });
  expect(coverageOf(rig, ["brand"]).complete).toBe(true);
  expect(coverageOf(rig, ["brand", "model"])).toMatchObject({ complete: false });
  expect(coverageOf(rig, ["brand"]).kinds.map(({ kind }) => kind)).toEqual(["root", "brands", "brand"]);
});

it("while a run is open, the coverage is that of the present", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, world);
  beginRun(mirror);
  mirror.db.prepare("update _resource set state = 'due' where url = ?").run(urlOf("brands/2/"));
  expect(kindIn(coverageOf(rig), "brand")).toMatchObject({ held: 2, due: 1 });
});

it("the next run stores the coverage of a run that died", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, world);
  beginRun(mirror);
  mirror.close();
  const next = await rig.write();
  closeRun(next, beginRun(next));
  expect(countStored(rig)).toBe(3);
});

it("an inconsistent list, an emptied list and a bulk deletion make a mirror incomplete", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, world);
  const changed = (brands: object): World => ({
    get: (url) => (url === urlOf("brands/") ? JSON.stringify(brands) : world.get(url)),
  });
  crawl(mirror, changed(page(["brands/1/"], null, {}, { collection_total: 7 })));
  expect(coverageOf(rig)).toMatchObject({ complete: false });
  crawl(mirror, world);
  expect(coverageOf(rig)).toMatchObject({ complete: true });
  crawl(mirror, changed(page([], null)));
  expect(kindIn(coverageOf(rig), "brand")).toMatchObject({ held: 3, awaitingApproval: 3 });
  expect(coverageOf(rig).complete).toBe(false);
  crawl(mirror, world);
  const { "brands/2/": _two, "brands/3/": _three, ...fewer } = bodies;
  crawl(mirror, worldOf({ ...fewer, "brands/": page(["brands/1/"], null) }));
  expect(kindIn(coverageOf(rig), "brand")).toMatchObject({ held: 3, awaitingApproval: 2 });
  expect(coverageOf(rig).complete).toBe(false);
});

it("an inconsistent list, an emptied list and a missing link make only their own brand incomplete", async () => {
  const brandWith = (name: string) => entity({ name }, { models: urlOf(`brands/${name}/models/`) });
  const lists = (name: string) => ({
    [`brands/${name}/`]: brandWith(name),
    [`brands/${name}/models/`]: page([`models/${name}/`], null),
    [`models/${name}/`]: entity(
      { name },
      { brand: urlOf(`brands/${name}/`), sizes: urlOf(`sizes/${name}/`) },
    ),
    [`sizes/${name}/`]: page([], null),
  });
  const whole = {
    ...{ "/": root(), "brands/": page(["brands/1/", "brands/2/"], null) },
    ...{ ...lists("1"), ...lists("2") },
  };
  for (const damaged of [
    { "brands/2/models/": page(["models/2/"], null, {}, { collection_total: 7 }) },
    { "brands/2/models/": page([], null) },
    { "models/2/": entity({ name: "2" }, { brand: urlOf("brands/2/") }) },
  ]) {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    crawl(mirror, worldOf(whole));
    const isComplete = () =>
      ["brands/1/", "brands/2/"].map((href) =>
        rig.read((reader) => readCoverageOfBrands(reader, [urlOf(href)]).complete),
      );
    expect(isComplete()).toEqual([true, true]);
    crawl(mirror, worldOf({ ...whole, ...damaged }));
    expect(isComplete()).toEqual([true, false]);
  }
});

it("a model that names another brand than its list counts with both", async () => {
  await using rig = await startMirrorRig();
  const ofBrand = (name: string) => entity({ name }, { models: urlOf(`brands/${name}/models/`) });
  const links = { brand: urlOf("brands/2/"), sizes: urlOf("sizes/1/") };
  const moved = worldOf({
    ...{ "/": root(), "brands/": page(["brands/1/", "brands/2/"], null) },
    ...{ "brands/1/": ofBrand("1"), "brands/1/models/": page(["models/1/"], null) },
    ...{ "brands/2/": ofBrand("2"), "brands/2/models/": page([], null) },
    ...{ "models/1/": entity({ name: "moved" }, links), "sizes/1/": page([], null) },
  });
  const mirror = await rig.write();
  const withoutSizes = (due: readonly DueResource[]) => due.filter(({ kind }) => kind !== "sizes");
  const isComplete = () =>
    ["brands/1/", "brands/2/"].map(
      (href) => rig.read((reader) => readCoverageOfBrands(reader, [urlOf(href)])).complete,
    );
  crawl(mirror, moved, { choose: withoutSizes, maxBatches: 10 });
  expect(isComplete()).toEqual([false, false]);
  crawl(mirror, moved);
  expect(isComplete()).toEqual([true, true]);
});

it("a brand that is gone is complete", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, world);
  const { "brands/3/": _three, ...fewer } = bodies;
  crawl(mirror, worldOf({ ...fewer, "brands/": page(["brands/1/", "brands/2/"], null) }));
  const { complete, kinds } = rig.read((reader) => readCoverageOfBrands(reader, [urlOf("brands/3/")]));
  expect({ complete, kinds }).toMatchObject({ complete: true, kinds: [{ kind: "brand", held: 0, gone: 1 }] });
});

it("the relations of a brand are not complete unless a sync has followed them", async () => {
  await using rig = await startMirrorRig();
  crawl(await rig.write(), world);
  const coverageOfTable = (table: string) =>
    rig.read((reader) => readCoverageOfBrands(reader, [urlOf("brands/1/")], [table]));
  expect(coverageOfTable("brand").complete).toBe(true);
  expect(coverageOfTable("relation")).toEqual({ complete: false, kinds: [] });
});

it("a mirror without a response is not complete", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  closeRun(mirror, beginRun(mirror));
  expect(coverageOf(rig)).toEqual({ complete: false, kinds: [] });
});
