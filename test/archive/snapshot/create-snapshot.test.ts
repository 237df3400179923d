/** A snapshot has the resources to which the service's own lists lead, and nothing that says whose mirror it was. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { createSnapshot } from "../../../src/archive/snapshot/create.ts";
import { openSnapshot } from "../../../src/archive/snapshot/open.ts";
import { loadSnapshots } from "../../../src/mirror/load/load-snapshot.ts";
import { readMirror } from "../../../src/mirror/reader.ts";
import { readCoverage } from "../../../src/mirror/runs/coverage.ts";
import type { DueResource } from "../../../src/mirror/scope.ts";
import type { SnapshotResource } from "../../../src/mirror/snapshots/snapshot-resource.ts";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { histories, replayHistory } from "../../change/support/histories.ts";
import {
  beginRun,
  closeRun,
  crawl,
  type MirrorRig,
  startMirrorRig,
} from "../../mirror/support/mirror-rig.ts";
import { entity, resultFrom, urlOf, type World } from "../../mirror/support/world.ts";
import { tries } from "../../support/thorough.ts";
import { accountWorld } from "../support/account-world.ts";
import { startBackupRig } from "../support/backup-rig.ts";
import { takeApart } from "../support/forgery.ts";
import { catalogueWorld } from "../support/linked-catalogue-rig.ts";

const license = "ODbL-1.0";

async function snapshotOf({ file, folder }: Pick<MirrorRig, "file" | "folder">, name = "catalogue.zip") {
  return await createSnapshot({ mirror: file, to: join(folder, name), license, replace: true });
}

async function resourcesIn(file: string): Promise<SnapshotResource[]> {
  const resources: SnapshotResource[] = [];
  for await (const resource of (await openSnapshot(file)).resources()) resources.push(resource);
  return resources;
}

const chooseRoots = (due: readonly DueResource[]) =>
  due.filter(({ kind }) => kind === "root" || kind === "brands");

/** A run for the bras of an account: it requests these alone. */
function fetchForAccount(mirror: MirrorWriter, world: World, paths: Readonly<Record<string, string>>): void {
  const only = Object.entries(paths).map(([path, kind]) => ({ url: urlOf(path), kind }));
  const run = mirror.beginRun({
    startedAt: "2026-01-16T12:00:00.000Z",
    mode: "incremental",
    scope: { only: only.length, credential: "none" },
  });
  mirror.addRoot(run);
  const ids = mirror.addResources(only, run);
  const due = only.map(({ url }, n) => ({ id: ids[n] ?? 0, url, etag: null }));
  mirror.ingest(
    due.map((resource) => ({ ...resultFrom(world, resource), fetchedAt: "2026-01-16T12:00:00.000Z" })),
    run,
  );
  closeRun(mirror, run);
}

const linked = { "brands/a/": "brand", "models/a/": "model", "sizes/a/": "size" };

it("a snapshot has the newest body of each resource, owners first, with its ETag and days", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const world = catalogueWorld();
  crawl(mirror, world);
  world.set(urlOf("sizes/b/"), JSON.stringify(entity({ name: "Newer" })));
  crawl(mirror, world);
  const { file, manifest, rootHash } = await snapshotOf(rig);
  const { description } = await openSnapshot(file, { rootHash });
  expect(description).toEqual({
    ...{ rootHash, baseUrl: urlOf(""), serviceName: "service", takenOn: "2026-01-15T00:00:00.000Z" },
    ...{ seenBy: "none", source: "catalogue.zip", signedBy: null, sequence: null },
  });
  const day = "2026-01-15";
  expect(manifest.coverage).toContainEqual({
    ...{ kind: "size", held: 3, gone: 0, due: 0, oldest: day, newest: day },
  });
  const resources = await resourcesIn(file);
  expect(resources.map(({ url }) => url).sort()).toEqual([...world.keys()].sort());
  for (const { url, etag, readBody } of resources) {
    const body = Buffer.from(await readBody());
    expect({ url, body: body.toString() }).toEqual({ url, body: world.get(url) });
    expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
  }
  const kinds = resources.map(({ kind }) => kind);
  expect([...new Set(kinds)]).toEqual(["root", "brands", "brand", "models", "model", "sizes", "size"]);
  expect(resources.at(-1)).toMatchObject({
    ...{ kind: "size", status: 200, fetchedAt: "2026-01-15T00:00:00.000Z", goneAt: null },
  });
});

it("a created snapshot says how whole its mirror was at that instant", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, catalogueWorld());
  const expected = readMirror(rig.file, readCoverage);
  const { mirrorCoverage } = await snapshotOf(rig);
  expect(mirrorCoverage).toEqual(expected);
  expect(mirrorCoverage.complete).toBe(true);
});

it("bodies of any size come back, of more resources than one statement reads", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const names = Array.from({ length: 60 }, (_, n) => `n${n}`);
  const world = catalogueWorld(names);
  const noise = randomBytes(40_000).toString("base64");
  for (const [path, note] of [
    ["sizes/n7/", noise],
    ["sizes/n8/", "\n é \u2028 \0"],
    ["sizes/n59/", noise + noise],
  ] as const)
    world.set(urlOf(path), JSON.stringify(entity({ name: "Large", note })));
  crawl(mirror, world);
  const { file } = await snapshotOf(rig);
  const resources = await resourcesIn(file);
  const read = await Promise.all(
    resources.map(async ({ url, readBody }) => [url, Buffer.from(await readBody()).toString()] as const),
  );
  expect(new Map(read)).toEqual(world);
});

it("the final address of a resource that was redirected comes back with a load", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const world = catalogueWorld();
  crawl(mirror, world);
  const url = urlOf("sizes/b/");
  const run = beginRun(mirror);
  const id = mirror.db.prepare<[string], number>("select id from _resource where url = ?").pluck().get(url);
  const newer = new Map(world).set(url, JSON.stringify(entity({ name: "Newer" })));
  const finalUrl = urlOf("moved/b/");
  const result = resultFrom(newer, { id: id ?? 0, url, etag: null });
  if (result.outcome !== "body") throw new Error("there is no body");
  mirror.ingest([{ ...result, finalUrl }], run);
  closeRun(mirror, run);
  const { file } = await snapshotOf(rig);
  expect((await resourcesIn(file)).find((one) => one.url === url)).toMatchObject({ finalUrl, status: 200 });
  await using follower = await startMirrorRig();
  const now = () => Date.parse("2026-01-20T12:00:00.000Z");
  await loadSnapshots({ file: follower.file, sources: [await openSnapshot(file)], kinds, now });
  const stored = follower.read(({ db }) =>
    db.prepare("select base_url from _revision where base_url is not null").pluck().all(),
  );
  expect(stored).toEqual([finalUrl]);
});

it("a snapshot has tombstones with their last bodies", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, catalogueWorld());
  crawl(mirror, catalogueWorld(["a", "b"]), { approve: true });
  const { file, manifest } = await snapshotOf(rig);
  expect(manifest.coverage.find(({ kind }) => kind === "brand")).toMatchObject({ held: 2, gone: 1 });
  const gone = (await resourcesIn(file)).find(({ url }) => url === urlOf("brands/c/"));
  expect(gone).toMatchObject({ goneAt: "2026-01-15T00:00:00.000Z", etag: null });
  expect(Buffer.from((await gone?.readBody()) ?? []).toString()).toContain("Brand c");
});

it("the same state gives the same snapshot, and every owner comes before what it owns, after any history", async () => {
  await fc.assert(
    fc.asyncProperty(histories(2), async (history) => {
      await using mirror = await replayHistory(history);
      await using place = await startMirrorRig();
      const rig = { file: mirror.file, folder: place.folder };
      const created = await snapshotOf(rig).catch((error) => {
        if (error.code === "nothing-held" || error.code === "not-shareable") return null;
        throw error;
      });
      if (created === null) return;
      const again = await snapshotOf(rig, "again.zip");
      expect(await readFile(again.file)).toEqual(await readFile(created.file));
      const resources = await resourcesIn(created.file);
      const kindsOf = new Set(resources.map(({ kind }) => kind));
      const { contents } = await openSnapshot(created.file);
      expect(contents).toEqual({ count: resources.length, kinds: kindsOf });
      const urls = resources.map(({ url }) => url);
      const owners = readMirror(mirror.file, ({ db }) =>
        db
          .prepare<[], { url: string; owner: string }>(
            "select r.url, o.url as owner from _resource r join _resource o on o.id = r.owner_id",
          )
          .all(),
      );
      const late = owners.filter(
        ({ url, owner }) => urls.includes(url) && !urls.slice(0, urls.indexOf(url)).includes(owner),
      );
      expect(late).toEqual([]);
    }),
    { numRuns: tries(5, 300) },
  );
});

it("nothing of a mirror that only the bras of an account have filled is shared", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  fetchForAccount(mirror, catalogueWorld(), linked);
  await expect(snapshotOf(rig)).rejects.toMatchObject({ code: "not-shareable" });
});

it("what only the bras of an account led to is left out until a run over the lists has confirmed it", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  fetchForAccount(mirror, catalogueWorld(), linked);
  const isOther = ({ url }: { readonly url: string }) => !Object.keys(linked).map(urlOf).includes(url);
  crawl(mirror, catalogueWorld(), { choose: (due) => due.filter(isOther), maxBatches: 8 });
  const partly = (await resourcesIn((await snapshotOf(rig)).file)).map(({ url }) => url);
  expect(partly).toContain(urlOf("sizes/b/"));
  expect(partly.filter((url) => /\/a\//.test(url))).toEqual([]);
  crawl(mirror, catalogueWorld());
  const whole = (await resourcesIn((await snapshotOf(rig)).file)).map(({ url }) => url);
  expect(whole.sort()).toEqual([...catalogueWorld().keys()].sort());
});

it("runs for the bras of an account leave no trace in a snapshot, whatever they find", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  fetchForAccount(mirror, catalogueWorld(), linked);
  crawl(mirror, catalogueWorld());
  const { rootHash } = await snapshotOf(rig);
  fetchForAccount(mirror, catalogueWorld(), linked);
  expect((await snapshotOf(rig)).rootHash).toBe(rootHash);
  const newer = catalogueWorld().set(urlOf("sizes/a/"), JSON.stringify(entity({ name: "Newer" })));
  newer.delete(urlOf("models/a/"));
  fetchForAccount(mirror, newer, linked);
  expect((await snapshotOf(rig)).rootHash).toBe(rootHash);
  crawl(mirror, newer, { approve: true });
  const size = (await resourcesIn((await snapshotOf(rig)).file)).find(({ url }) => url === urlOf("sizes/a/"));
  expect(size?.goneAt).toBe("2026-01-15T00:00:00.000Z");
  expect(Buffer.from((await size?.readBody()) ?? []).toString()).toContain("Size a");
});

it("a mirror of an earlier version shares nothing that only a run for an account has checked", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, catalogueWorld(), { maxBatches: 3 });
  fetchForAccount(mirror, catalogueWorld(), { "brands/a/": "brand", "sizes/a/": "size" });
  mirror.db.exec(
    "drop table _linked_check; drop index _model_worth; drop index _size_worth; delete from _migration where name > '0003-snapshots'",
  );
  mirror.close();
  const urlsIn = async (file: string) => (await resourcesIn(file)).map(({ url }) => url);
  const before = await urlsIn((await snapshotOf(rig)).file);
  expect(before).not.toContain(urlOf("brands/a/"));
  (await rig.write()).close();
  const after = await urlsIn((await snapshotOf(rig)).file);
  expect(after).toContain(urlOf("brands/a/"));
  expect(after).not.toContain(urlOf("sizes/a/"));
});

it("what another snapshot brought is shared once the service has confirmed it", async () => {
  await using publisher = await startMirrorRig();
  crawl(await publisher.write(), catalogueWorld());
  const { file } = await snapshotOf(publisher);
  await using follower = await startMirrorRig();
  const now = () => Date.parse("2026-01-20T12:00:00.000Z");
  await loadSnapshots({ file: follower.file, sources: [await openSnapshot(file)], kinds, now });
  await expect(snapshotOf(follower)).rejects.toMatchObject({ code: "not-shareable" });
  crawl(await follower.write(), catalogueWorld(), { maxBatches: 1, choose: chooseRoots });
  const confirmed = (await resourcesIn((await snapshotOf(follower)).file)).map(({ url }) => url);
  expect(confirmed.sort()).toEqual([urlOf(""), urlOf("brands/")]);
});

it("the mirror of an account, and an empty one, are refused", async () => {
  await using account = await startBackupRig();
  crawl(account.mirror, accountWorld());
  await expect(snapshotOf(account)).rejects.toMatchObject({ code: "not-shareable" });
  await using empty = await startMirrorRig();
  const mirror = await empty.write();
  closeRun(mirror, beginRun(mirror));
  await expect(snapshotOf(empty)).rejects.toMatchObject({ code: "nothing-held" });
});

it("a snapshot names no user, host or folder of its maker, and no time within a day", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const world = catalogueWorld();
  crawl(mirror, world);
  fetchForAccount(mirror, world, linked);
  const entries = await takeApart(await readFile((await snapshotOf(rig)).file));
  const bodies = [...world.values()];
  for (const { name, content } of entries) {
    const text = bodies.reduce((rest, body) => rest.replaceAll(body, ""), content.toString());
    const traces = [rig.folder, hostname(), `/${userInfo().username}/`, ".sqlite", "12:00", '"only"'];
    expect({ name, traces: traces.filter((trace) => text.includes(trace)) }).toEqual({ name, traces: [] });
    expect({ name, times: text.match(/\d\dT\d\d|\d\d:\d\d/g) }).toEqual({ name, times: null });
  }
});
