/** Loads into mirrors that hold something, refused snapshots, and loads that were killed. */
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { type LoadOptions, loadSnapshots } from "../../../src/mirror/load/load-snapshot.ts";
import { readLoadedSnapshots } from "../../../src/mirror/load/loaded-snapshots.ts";
import { openMirrorReader, readMirror } from "../../../src/mirror/reader.ts";
import { listRuns } from "../../../src/mirror/runs/run-log.ts";
import type { SnapshotDescription, SnapshotSource } from "../../../src/mirror/snapshots/snapshot-resource.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { crawl, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { entity, page, root, urlOf, type World, worldOf } from "../support/world.ts";
import { type HeldResource, resourcesOf, snapshotOf } from "./support/snapshot-of.ts";

const brands = ["brands/1/", "brands/2/", "brands/3/"];
const world = worldOf({
  "/": root(),
  "brands/": page(brands, null, {}, { collection_total: 3, page_total: 1 }),
  ...Object.fromEntries(brands.map((path) => [path, entity({ name: path })])),
});

/** The resources of a mirror that has crawled this world. */
async function crawled(of: World = world): Promise<HeldResource[]> {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, of);
  return resourcesOf(mirror);
}

const identity = { baseUrl: urlOf("/"), serviceName: "service", area: "catalogue" } as const;
const sourceOf = (resources: readonly HeldResource[], more: Partial<SnapshotDescription> = {}) =>
  snapshotOf({ identity } as Parameters<typeof snapshotOf>[0], resources, more);

const load = (file: string, sources: readonly SnapshotSource[], more: Partial<LoadOptions> = {}) =>
  loadSnapshots({ file, sources, kinds, now: () => Date.parse("2026-03-01T00:00:00.000Z"), ...more });

const on = (day: string) => (resource: HeldResource) => ({ ...resource, fetchedAt: `${day}T00:00:00.000Z` });
const renamed = (resource: HeldResource, name: string): HeldResource => ({
  ...resource,
  body: Buffer.from(JSON.stringify(entity({ name }))),
});
const isBrand = (n: number) => (resource: HeldResource) => resource.url === urlOf(`brands/${n}/`);

const rowsOf = (file: string) => {
  const mirror = openMirrorReader(file);
  const rows = mirror.db.prepare("select name, confirmed from brand order by href").all();
  mirror.close();
  return rows;
};

it("a load replaces what is older, and nothing that the mirror itself fetched on that day or later", async () => {
  const resources = await crawled();
  await using rig = await startMirrorRig();
  const writer = await rig.write();
  crawl(writer, world);
  writer.close();
  const changed = resources.map((resource) =>
    resource.kind === "brand" ? renamed(resource, "new") : resource,
  );
  const [sameDay, later] = [changed, changed.filter(isBrand(2)).map(on("2026-01-16"))];
  const first = await load(rig.file, [sourceOf(sameDay)]);
  expect(first.snapshots[0]?.resources).toMatchObject({ new: 0, replaced: 0, kept: 5 });
  const second = await load(rig.file, [sourceOf(later)]);
  expect(second.snapshots[0]?.resources).toMatchObject({ replaced: 1, kept: 0 });
  expect(rowsOf(rig.file)).toEqual([
    { name: "brands/1/", confirmed: "bytes" },
    { name: "new", confirmed: null },
    { name: "brands/3/", confirmed: "bytes" },
  ]);
  expect(rig.read(problemsOf)).toEqual([]);
});

it("a later snapshot replaces what an earlier one brought, in either order of loading", async () => {
  const resources = await crawled();
  const later = resources
    .map(on("2026-02-01"))
    .map((one) => (one.kind === "brand" ? renamed(one, "later") : one));
  for (const order of [[resources, later] as const, [later, resources] as const]) {
    await using rig = await startMirrorRig();
    for (const part of order) await load(rig.file, [sourceOf(part)]);
    expect(rowsOf(rig.file)).toEqual(brands.map(() => ({ name: "later", confirmed: null })));
  }
});

it("the mirror remembers from which snapshot each resource came", async () => {
  const resources = await crawled();
  const parts = [resources, resources.filter(isBrand(2)).map(on("2026-02-01"))].map((part, n) =>
    sourceOf(
      part.map((one) => (n === 1 ? renamed(one, "later") : one)),
      { rootHash: String(n).repeat(64), source: `${n}.zip` },
    ),
  );
  await using rig = await startMirrorRig();
  await load(rig.file, parts);
  const from = rig.read(({ db }) =>
    db
      .prepare(
        `select r.url, s.source, s.root_hash from _loaded l join _snapshot s on s.id = l.snapshot_id
           join _resource r on r.id = l.resource_id where r.kind = 'brand' order by r.url`,
      )
      .raw()
      .all(),
  );
  const of = (brand: number, n: number) => [urlOf(`brands/${brand}/`), `${n}.zip`, String(n).repeat(64)];
  expect(from).toEqual([of(1, 0), of(2, 1), of(3, 0)]);
});

it("a list from a snapshot removes nothing until the service has confirmed it", async () => {
  const without3 = worldOf({
    "/": root(),
    "brands/": page(brands.slice(0, 2), null, {}, { collection_total: 2, page_total: 1 }),
    ...Object.fromEntries(brands.slice(0, 2).map((path) => [path, entity({ name: path })])),
  });
  const resources = (await crawled(without3)).map(on("2026-02-01"));
  await using rig = await startMirrorRig();
  const writer = await rig.write();
  crawl(writer, world);
  writer.close();
  await load(rig.file, [sourceOf(resources)]);
  const goneOf = () =>
    rig.read(({ db }) => db.prepare("select href from brand where gone_at is not null").pluck().all());
  expect(goneOf()).toEqual([]);
  const again = await rig.write();
  crawl(again, without3, { approve: true });
  again.close();
  expect(goneOf()).toEqual([urlOf("brands/3/")]);
});

it("the links of a mirror decide what is loaded, and as which kind", async () => {
  const resources = await crawled();
  const [first, ...others] = resources.filter(({ kind }) => kind === "brand");
  const stray = { ...on("2026-01-15")(others[0] as HeldResource), url: urlOf("brands/stray/") };
  const foreign = { ...stray, url: "https://other.example/brands/1/" };
  const mistyped = { ...(first as HeldResource), kind: "model" };
  const broken = { ...(others[0] as HeldResource), body: Buffer.from("[]") };
  const lists = resources.filter(({ kind }) => kind !== "brand");
  await using rig = await startMirrorRig();
  const report = await load(rig.file, [sourceOf([...lists, stray, foreign, mistyped, broken])]);
  expect(report.snapshots[0]?.resources).toEqual({
    ...{ new: 2, replaced: 0, same: 0, kept: 0, unlinked: 1, "other-kind": 1, rejected: 2 },
  });
  expect(rig.read(problemsOf)).toEqual([]);
});

it("another service, another name, an account's mirror and the future are refused before anything is changed", async () => {
  const resources = await crawled();
  const refusals: [Partial<SnapshotDescription>, RegExp][] = [
    [{ baseUrl: "https://other.example/" }, /is of https:\/\/other\.example\//],
    [{ serviceName: "acme" }, /is named acme/],
    [{ takenOn: "2027-01-01T00:00:00.000Z" }, /future/],
  ];
  await using rig = await startMirrorRig();
  (await rig.write()).close();
  for (const [more, message] of refusals) {
    const loading = load(rig.file, [sourceOf(resources, more)]);
    await expect(loading).rejects.toMatchObject({
      kind: "rejected",
      message: expect.stringMatching(message),
    });
    expect(rig.read((mirror) => listRuns(mirror, 1))).toEqual([]);
  }
  await using account = await startMirrorRig();
  (await account.write({ area: "account" })).close();
  await expect(load(account.file, [sourceOf(resources)])).rejects.toMatchObject({ code: "other-service" });
  await using none = await startMirrorRig();
  const two = [sourceOf(resources), sourceOf(resources, { baseUrl: "https://other.example/" })];
  await expect(load(none.file, two)).rejects.toMatchObject({ code: "other-service" });
  expect(existsSync(none.file)).toBe(false);
});

it("a load that was killed at any step leaves a sound mirror, and the next one completes it", async () => {
  const resources = await crawled();
  await using rig = await startMirrorRig();
  await load(rig.file, [sourceOf(resources)]);
  const whole = rig.read(canonicalDump);
  await using cut = await startMirrorRig();
  const images: string[] = [];
  // The files at any time are those that a kill would leave.
  const copied: SnapshotSource = {
    ...sourceOf(resources),
    async *resources() {
      for (const { body, ...resource } of resources) {
        const readBody = async () => {
          const image = join(cut.folder, `image-${images.length}.sqlite`);
          copyFileSync(cut.file, image);
          copyFileSync(`${cut.file}-wal`, `${image}-wal`);
          images.push(image);
          return body;
        };
        yield { ...resource, readBody };
      }
    },
  };
  await load(cut.file, [copied], { batchSize: 1 });
  expect(images).toHaveLength(resources.length);
  const isComplete = (file: string) =>
    readMirror(file, ({ db }) => readLoadedSnapshots(db).map((snapshot) => snapshot.isComplete));
  for (const image of images) {
    expect(isComplete(image)).toEqual([false]);
    const report = await load(image, [sourceOf(resources)]);
    expect(isComplete(image)).toEqual([true]);
    expect(report.sampled).toBe(resources.length);
    const mirror = openMirrorReader(image);
    expect(canonicalDump(mirror)).toEqual(whole);
    expect(problemsOf(mirror)).toEqual([]);
    expect(listRuns(mirror, 2).map(({ mode, stopped }) => [mode, stopped])).toEqual([
      ["load", null],
      ["load", "interrupted"],
    ]);
    mirror.close();
  }
});
