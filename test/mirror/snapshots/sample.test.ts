/** How often the sample of a snapshot contains a forged body, in the program and in its documentation. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { loadSnapshots } from "../../../src/mirror/load/load-snapshot.ts";
import { drawSample } from "../../../src/mirror/snapshots/sample.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { tries } from "../../support/thorough.ts";
import { snapshotOf } from "../load/support/snapshot-of.ts";
import { crawl, startMirrorRig } from "../support/mirror-rig.ts";
import { worldOfTruth } from "../support/world.ts";

/** The likelihood that a sample of `size` of `n` resources has one of `k` forged ones. */
function likelihood(n: number, k: number, size: number): number {
  const missed = Array.from({ length: size }, (_, i) => Math.max(0, n - k - i) / (n - i));
  return 1 - missed.reduce((product, factor) => product * factor, 1);
}

it("samples are uniform: they find k forged of n resources as often as expected", async () => {
  await using sandbox = await startSandbox({ brands: 6, models: 16, sizes: 60 });
  await using publisher = await startMirrorRig(sandbox.url);
  await using rig = await startMirrorRig(sandbox.url);
  const published = await publisher.write();
  crawl(published, worldOfTruth(sandbox.truth()));
  const now = () => Date.parse("2026-02-01T00:00:00.000Z");
  await loadSnapshots({ file: rig.file, sources: [snapshotOf(published)], kinds, sampleSize: 0, now });
  const { db } = await rig.write();
  const ids = db.prepare<[], number>("select resource_id from _loaded order by 1").pluck().all();
  const sampled = db.prepare<[], number>("select resource_id from _loaded where sampled = 1").pluck();
  const draws = tries(300, 5000);
  for (const [k, size] of [
    [1, 10],
    [5, 20],
    [30, 3],
  ] as const) {
    // Neighbours: a sample that prefers some part of the mirror would find them too often or too seldom.
    const forged = new Set(ids.slice(7, 7 + k));
    let found = 0;
    for (let n = 0; n < draws; n++) {
      db.exec("update _loaded set sampled = 0");
      expect(drawSample(db, { snapshotId: 1, sinceRun: 0, seed: `seed ${k} ${n}`, size })).toBe(size);
      if (sampled.all().some((id) => forged.has(id))) found++;
    }
    const expected = likelihood(ids.length, k, size);
    const deviation = Math.sqrt((expected * (1 - expected)) / draws);
    expect(Math.abs(found / draws - expected)).toBeLessThan(4 * deviation);
  }
});

it("a sample has 50 resources, unless another number is given, and is another one for each load", async () => {
  await using sandbox = await startSandbox({ brands: 3, models: 12, sizes: 60 });
  await using publisher = await startMirrorRig(sandbox.url);
  const published = await publisher.write();
  crawl(published, worldOfTruth(sandbox.truth()));
  const draw = async () => {
    await using rig = await startMirrorRig(sandbox.url);
    const now = () => Date.parse("2026-02-01T00:00:00.000Z");
    await loadSnapshots({ file: rig.file, sources: [snapshotOf(published)], kinds, now });
    const urls = `select url from _resource where id in (select resource_id from _loaded where sampled = 1) order by 1`;
    return rig.read(({ db }) => ({
      seed: db.prepare("select sample_seed from _snapshot").pluck().get(),
      urls: db.prepare(urls).pluck().all(),
    }));
  };
  const [first, second] = [await draw(), await draw()];
  expect([first.urls.length, second.urls.length]).toEqual([50, 50]);
  expect(first.seed).not.toBe(second.seed);
  expect(first.urls).not.toEqual(second.urls);
});

it("the documentation has these likelihoods", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/snapshots.md"), "utf8");
  const rows = [...page.matchAll(/^\| ([\d,]+) of ([\d,]+) \| ([\d.]+) % \| ([\d.]+) % \|/gm)];
  expect(rows.length).toBeGreaterThanOrEqual(4);
  for (const [, k = "", n = "", ...shown] of rows) {
    const [forged, all] = [k, n].map((text) => Number(text.replaceAll(",", ""))) as [number, number];
    expect(shown.slice(0, 2).map(Number)).toEqual(
      [50, 500].map((size) => Math.round(1000 * likelihood(all, forged, size)) / 10),
    );
  }
});
