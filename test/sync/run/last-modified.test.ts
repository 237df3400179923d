/** Checks of a service that sends `Last-Modified` and no ETags. */
import { describe, expect, it } from "vitest";
import { readProvenance } from "../../../src/query/provenance.ts";
import { startRedis } from "../../support/redis.ts";
import { catalogueAt, startFetchWorkers } from "../../support/workers.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 4, models: 12, sizes: 24, etag: "last-modified" } as const;
const later = { advanceSeconds: 120 };

const statusesIn = ({ sandbox }: Rig) => [...new Set(sandbox.log().map(({ status }) => status))].sort();

describe.each([false, true])("without ETags, where a 304 is counted: %s", (countNotModified) => {
  it("a check sends If-Modified-Since, and costs as much as a 304 does", async () => {
    await using rig = await startRig({ ...world, countNotModified });
    const first = await rig.sync();
    rig.sandbox.moveClock(later);
    rig.sandbox.clearLog();
    const report = await rig.sync({ mode: "verify" });
    expect(report).toMatchObject({
      upToDate: true,
      resources: { changed: 0, unchanged: first.resources.new },
    });
    expect(statusesIn(rig)).toEqual([304]);
    expect(report.requests.notModified).toBe(first.resources.new);
    // The root is free either way.
    expect(report.requests.counted).toBe(countNotModified ? first.resources.new - 1 : 0);
    expect(report.allowance.checkPrice).toBe(countNotModified ? "counted" : "free");
  });

  it("a check finds all changes", async () => {
    await using rig = await startRig({ ...world, countNotModified });
    await rig.sync();
    for (let steps = 0; steps < 3; steps++) {
      rig.sandbox.moveClock(later);
      rig.sandbox.advance({ changes: 6, additions: 1, removals: 1 });
      await rig.sync({ mode: "verify", approve: true });
    }
    expect(differencesFromTruth(rig)).toEqual([]);
  });
});

it("a body that changed less than a minute before its response is fetched again by the next check", async () => {
  await using rig = await startRig(world);
  await rig.sync();
  rig.sandbox.moveClock(later);
  rig.sandbox.advance({ changes: 1, kind: "brand" });
  const { resources } = await rig.sync({ mode: "verify" });
  expect(resources.changed).toBeGreaterThan(0);
  const statusesOfNext = async () => {
    rig.sandbox.moveClock(later);
    rig.sandbox.clearLog();
    await rig.sync({ mode: "verify" });
    return rig.sandbox.log().filter(({ status }) => status === 200).length;
  };
  expect(await statusesOfNext()).toBe(resources.changed);
  expect(await statusesOfNext()).toBe(0);
});

it("--mode full fetches everything again", async () => {
  await using rig = await startRig(world);
  await rig.sync();
  rig.sandbox.moveClock(later);
  rig.sandbox.clearLog();
  await rig.sync({ mode: "full" });
  expect(statusesIn(rig)).toEqual([200]);
});

it("the time is shown as Last-Modified and not as an ETag", async () => {
  await using rig = await startRig(world);
  await rig.sync();
  const href = rig.read(({ db }) => db.prepare("select href from brand").pluck().get());
  const provenance = rig.read((mirror) => readProvenance(mirror, String(href)));
  expect(provenance.etag).toBeNull();
  expect(provenance.modifiedAt).toMatch(/^20\d\d-.*Z$/);
});

it("workers send If-Modified-Since too, and return the headers that are kept", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  await using _workers = await startFetchWorkers(2, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
  });
  const workers = { redis: redis.url };
  await rig.sync({ workers });
  const kept = rig.read(({ db }) =>
    db.prepare("select count(*) from _revision where sent_at is null or modified_at is null").pluck().get(),
  );
  expect(kept).toBe(0);
  rig.sandbox.moveClock(later);
  rig.sandbox.clearLog();
  expect(await rig.sync({ workers, mode: "verify" })).toMatchObject({ upToDate: true });
  expect(statusesIn(rig)).toEqual([304]);
});
