/** Syncs of mirrors that were loaded from a snapshot: confirmation, the sample, and snapshots that the service contradicts. */
import { join } from "node:path";
import Database from "better-sqlite3";
import fc from "fast-check";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { loadSnapshots } from "../../../src/mirror/load/load-snapshot.ts";
import { openMirrorReader, readMirror } from "../../../src/mirror/reader.ts";
import type { SnapshotDescription } from "../../../src/mirror/snapshots/snapshot-resource.ts";
import { planSync } from "../../../src/sync/plan/preview.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { type HeldResource, resourcesOf, snapshotOf } from "../../mirror/load/support/snapshot-of.ts";
import { problemsOf } from "../../mirror/support/mirror-rig.ts";
import { tries } from "../../support/thorough.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

const small = { brands: 3, models: 6, sizes: 14, pageSize: 3, countRoot: true } as const;

/** A service two days after somebody has mirrored it, and what they held. */
async function startPublished(options: Parameters<typeof startRig>[0] = {}) {
  const publisher = await startRig({ ...small, ...options });
  await publisher.sync();
  const resources = publisher.read(resourcesOf);
  publisher.sandbox.moveClock({ advanceSeconds: 2 * 86_400 });
  publisher.sandbox.clearLog();
  const file = join(publisher.file, "..", "follower.sqlite");
  const follower: Rig = {
    ...publisher,
    file,
    sync: (more: Partial<SyncOptions> = {}) => publisher.sync({ file, ...more }),
    read: (read) => readMirror(file, read),
  };
  return {
    follower,
    resources,
    load: async (
      given: readonly HeldResource[] = resources,
      more: Partial<SnapshotDescription> & { sampleSize?: number } = {},
    ) => {
      const { sampleSize = 4, ...description } = more;
      const mirror = openMirrorReader(publisher.file);
      const source = snapshotOf(mirror, given, description);
      mirror.close();
      const now = publisher.clock.now;
      return await loadSnapshots({ file, sources: [source], kinds, sampleSize, now });
    },
    [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose](),
  };
}

/** Another body under the same tag. */
const forge = (resource: HeldResource): HeldResource => {
  const envelope = JSON.parse(resource.body.toString());
  return {
    ...resource,
    body: Buffer.from(JSON.stringify({ ...envelope, meta: { ...envelope.meta, forged: true } })),
  };
};

it("the sample is fetched whole and first, and the rest is confirmed without cost", async () => {
  await using published = await startPublished();
  const { follower, resources, load } = published;
  await load();
  const plan = planSync({ file: follower.file, baseUrl: follower.sandbox.url, clock: follower.clock });
  expect(plan.next.slice(0, 4).map(({ reason }) => reason)).toEqual(["root", "sample", "sample", "sample"]);
  const { requests, snapshots, upToDate } = await follower.sync();
  const log = follower.sandbox.log();
  const isWhole = log.map(({ status }) => status === 200);
  expect(isWhole.filter(Boolean)).toHaveLength(4);
  // The root is requested before the sample, and the pages of a list before one of it in the sample.
  const before = log.slice(0, isWhole.lastIndexOf(true)).filter(({ status }) => status === 304);
  const paths = before.map(({ url }) => new URL(url).pathname);
  expect(paths.filter((path) => !/^\/$|\/(brands|models|sizes)\/$/u.test(path))).toEqual([]);
  expect(requests.counted).toBe(4);
  expect(snapshots).toEqual({ bytes: 4, validator: resources.length - 4, unconfirmed: 0, differences: 0 });
  expect(upToDate).toBe(true);
  expect(differencesFromTruth(follower)).toEqual([]);
});

it("what the service has changed since is fetched and counted as a difference", async () => {
  await using published = await startPublished();
  const { follower, load } = published;
  await load();
  follower.sandbox.advance({ changes: 3, additions: 1, removals: 1 });
  const { snapshots } = await follower.sync({ approve: true });
  expect(snapshots).toMatchObject({ unconfirmed: 0, differences: expect.any(Number) });
  expect(snapshots?.differences).toBeGreaterThanOrEqual(3);
  expect(differencesFromTruth(follower)).toEqual([]);
});

it("after any history, a sync makes an honest snapshot equal to the service", async () => {
  const moves = fc.record({
    changes: fc.nat(4),
    additions: fc.nat(2),
    removals: fc.nat(2),
    moves: fc.nat(2),
  });
  await fc.assert(
    fc.asyncProperty(fc.nat(1000), moves, fc.nat(30), async (seed, advance, sampleSize) => {
      await using published = await startPublished({ seed });
      const { follower, load } = published;
      await load(undefined, { sampleSize });
      follower.sandbox.advance(advance);
      for (let n = 0; n < 3; n++) await follower.sync({ approve: true });
      expect(differencesFromTruth(follower)).toEqual([]);
    }),
    { numRuns: tries(3, 100) },
  );
});

it("a forged body under a true tag condemns the snapshot, and the next syncs fetch everything again", async () => {
  await using published = await startPublished();
  const { follower, resources, load } = published;
  const forged = resources.map((one) => (one.kind === "size" ? forge(one) : one));
  await load(forged, { sampleSize: resources.length });
  const failing = follower.sync();
  await expect(failing).rejects.toMatchObject({ code: "condemned", kind: "rejected" });
  // What the service has sent by then stays.
  const held = follower.read(({ db }) =>
    db.prepare("select count(*) from _resource where state = 'held'").pluck().get(),
  );
  expect(held).toBeLessThan(resources.length);
  expect(follower.read(problemsOf)).toEqual([]);
  await expect(load(forged)).rejects.toMatchObject({ code: "condemned" });
  await follower.sync();
  expect(differencesFromTruth(follower)).toEqual([]);
});

it("a forged body is found under a tag that is only weakly the service's", async () => {
  await using published = await startPublished();
  const { follower, resources, load } = published;
  const forged = resources.map((one) => ({ ...forge(one), etag: `W/${one.etag}` }));
  await load(forged, { sampleSize: 4 });
  await expect(follower.sync()).rejects.toMatchObject({ code: "condemned" });
  await follower.sync();
  expect(differencesFromTruth(follower)).toEqual([]);
});

it.each(["*", '"a", "b"', `"${"a".repeat(2000)}"`, "Wed, 01 Jan 2098 00:00:00 GMT"])(
  "a validator that no response can have is not sent, and confirms nothing (%#)",
  async (etag) => {
    await using published = await startPublished();
    const { follower, resources, load } = published;
    await load(
      resources.map((one) => ({ ...one, etag })),
      { sampleSize: 0 },
    );
    const { snapshots } = await follower.sync();
    expect(snapshots).toMatchObject({ validator: 0 });
    expect(follower.sandbox.log().filter(({ status }) => status === 304)).toEqual([]);
  },
);

it("times that the sample finds with other bodies confirm nothing", async () => {
  await using published = await startPublished({ etag: "last-modified" });
  const { follower, resources, load } = published;
  expect(resources.filter(({ etag }) => etag === null)).toHaveLength(0);
  await load(resources.map(forge));
  const { snapshots } = await follower.sync();
  // The root, and pages before one of the sample, are requested before it.
  expect(snapshots?.validator).toBeLessThan(resources.length / 2);
  const honest = await startPublished({ etag: "last-modified" });
  await using _ = honest;
  await honest.load();
  const { snapshots: confirmed } = await honest.follower.sync();
  expect(confirmed).toMatchObject({ unconfirmed: 0, differences: 0 });
});

it("a mirror's own bodies come back when a condemned snapshot has replaced them", async () => {
  await using published = await startPublished();
  const { follower, resources, load } = published;
  const { clock } = follower;
  const today = `${new Date(clock.now()).toISOString().slice(0, 10)}T00:00:00.000Z`;
  await follower.sync({ depth: "models" });
  const own = follower.read(resourcesOf);
  follower.sandbox.moveClock({ advanceSeconds: 2 * 86_400 });
  const later = new Date(Date.parse(today) + 2 * 86_400_000).toISOString();
  const forged = resources.map((one) => ({ ...forge(one), fetchedAt: later }));
  await load(forged, { sampleSize: resources.length });
  expect(follower.read(resourcesOf).filter(({ body }) => body.includes("forged"))).toHaveLength(
    resources.length,
  );
  await expect(follower.sync()).rejects.toMatchObject({ code: "condemned" });
  const left = follower.read(resourcesOf);
  const bodyOf = (url: string) => left.find((one) => one.url === url)?.body.toString();
  expect(own.map(({ url }) => bodyOf(url))).toEqual(own.map(({ body }) => body.toString()));
  expect(left.filter(({ body }) => body.includes("forged"))).toEqual([]);
  expect(follower.read(problemsOf)).toEqual([]);
  await follower.sync();
  expect(differencesFromTruth(follower)).toEqual([]);
});

it("a forged list proves no deletion, although the service confirms its tag", async () => {
  await using published = await startPublished({ brands: 1, models: 6, sizes: 20, pageSize: 100 });
  const { follower, resources, load } = published;
  await follower.sync();
  follower.sandbox.moveClock({ advanceSeconds: 2 * 86_400 });
  const later = new Date(follower.clock.now() - (follower.clock.now() % 86_400_000)).toISOString();
  const forged = resources.map((one) => {
    const { collection, meta, ...rest } = JSON.parse(one.body.toString());
    if (one.kind !== "models") return one;
    const count = collection.length - 1;
    const counts = { collection_total: count, page_total: count };
    const body = { ...rest, collection: collection.slice(1), meta: { ...meta, ...counts } };
    return { ...one, body: Buffer.from(JSON.stringify(body)), fetchedAt: later };
  });
  await load(forged, { sampleSize: 0 });
  const { resources: counts, snapshots } = await follower.sync({ approve: true });
  expect(snapshots?.validator).toBeGreaterThan(0);
  expect(counts.gone).toBe(0);
  const held = "select count(*) from _resource where state = 'held'";
  expect(follower.read(({ db }) => db.prepare(held).pluck().get())).toBe(resources.length);
});

it("a sync of which something stays unconfirmed does not say that everything is up to date", async () => {
  await using published = await startPublished();
  const { follower, resources, load } = published;
  await load(resources.map((one) => ({ ...one, etag: `"other ${one.etag?.slice(1, -1)}"` })));
  const { complete, upToDate, snapshots } = await follower.sync();
  expect({ complete, upToDate }).toEqual({ complete: true, upToDate: false });
  expect(snapshots?.unconfirmed).toBeGreaterThan(0);
});

it("validators that another kind of credential has seen are used once the sample has the same ones", async () => {
  await using published = await startPublished();
  const { follower, resources, load } = published;
  await load(undefined, { seenBy: "app" });
  const { requests, snapshots } = await follower.sync();
  expect(requests.counted).toBe(snapshots?.bytes);
  expect(snapshots).toMatchObject({ validator: resources.length - requests.counted, unconfirmed: 0 });
});

it.each(["incremental", "verify"] as const)(
  "in mode %s, the other checks wait for all of the sample, which may be a later page of a list",
  async (mode) => {
    await using published = await startPublished();
    const { follower, resources, load } = published;
    await load(undefined, { seenBy: "app", sampleSize: 0 });
    const db = new Database(follower.file);
    const page = db.prepare("select id from _page where collection_id <> id limit 1").pluck().get();
    expect(db.prepare("update _loaded set sampled = 1 where resource_id = ?").run(page).changes).toBe(1);
    db.prepare("update _resource set etag = null where id = ?").run(page);
    db.close();
    const { requests, snapshots } = await follower.sync({ mode });
    expect(requests.counted).toBe(snapshots?.bytes);
    expect(snapshots).toMatchObject({ validator: resources.length - requests.counted, unconfirmed: 0 });
  },
);

it("validators that the service no longer gives are not sent, so that they cost nothing", async () => {
  for (const seenBy of ["app", "none"] as const) {
    await using published = await startPublished();
    const { follower, resources, load } = published;
    const other = resources.map((one) => ({ ...one, etag: `"other ${one.etag?.slice(1, -1)}"` }));
    await load(other, { seenBy });
    const { requests, snapshots } = await follower.sync();
    expect(requests.counted).toBe(snapshots?.bytes);
    expect(snapshots).toMatchObject({ validator: 0, unconfirmed: resources.length - requests.counted });
    const again = await follower.sync();
    expect(again.requests.counted).toBe(0);
  }
});
