/** Two people mirror half of a catalogue each, and exchange snapshots for a year. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { createSnapshot } from "../../../src/archive/snapshot/create.ts";
import { openSnapshot } from "../../../src/archive/snapshot/open.ts";
import { loadSnapshots } from "../../../src/mirror/load/load-snapshot.ts";
import { readMirror } from "../../../src/mirror/reader.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { tries } from "../../support/thorough.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

/** In a year. */
const rounds = tries(4, 12);
const secondsBetween = (365 / rounds) * 86_400;
const sampleSize = 2;

it("two followers end with the whole catalogue, and each change is paid for once", async () => {
  await using rig = await startRig({ brands: 4, models: 10, sizes: 24, pageSize: 5, countRoot: true });
  const bodies = () => new Map([...rig.sandbox.truth()].map(({ url, body }) => [url, JSON.stringify(body)]));
  const brands = [...rig.sandbox.truth()].filter(({ kind }) => kind === "brand").map(({ url }) => url);
  const followers = ["first", "second"].map((name): Rig => {
    const file = join(rig.file, "..", name, "catalogue.sqlite");
    return {
      ...rig,
      file,
      sync: (more = {}) => rig.sync({ file, ...more }),
      read: (read) => readMirror(file, read),
    };
  });
  let counted = 0;
  let sampled = 0;
  const sync = async (follower: Rig, options: Partial<SyncOptions> = {}) => {
    counted += (await follower.sync({ approve: true, ...options })).requests.counted;
  };
  /** One creates a snapshot, and the other loads it. */
  const pass = async (from: Rig, to: Rig, name: string) => {
    const place = join(from.file, "..", `${name}.zip`);
    const { file } = await createSnapshot({ mirror: from.file, to: place, license: "CC0-1.0" });
    const sources = [await openSnapshot(file)];
    const loaded = await loadSnapshots({ file: to.file, sources, kinds, sampleSize, now: rig.clock.now });
    sampled += loaded.sampled;
  };

  const [one, other] = followers as [Rig, Rig];
  const known = bodies().size;
  await sync(one, { brands: brands.slice(0, 2) });
  await sync(other, { brands: brands.slice(2) });
  await pass(one, other, "start");
  await pass(other, one, "start");
  // Both hold the root and the list of brands.
  const atFirst = counted - known;
  let changed = 0;
  let removed = 0;
  for (let round = 1; round <= rounds; round++) {
    const before = bodies();
    rig.sandbox.advance({ changes: 2, additions: 1, removals: 1 });
    const after = bodies();
    changed += [...after].filter(([url, body]) => before.get(url) !== body).length;
    removed += [...before.keys()].filter((url) => !after.has(url)).length;
    rig.sandbox.moveClock({ advanceSeconds: Math.round(secondsBetween) });
    // In turn, one of them pays.
    const [payer, reader] = round % 2 === 0 ? [one, other] : [other, one];
    await sync(payer);
    await pass(payer, reader, `round-${round}`);
    await sync(reader);
  }
  for (const follower of followers) expect(differencesFromTruth(follower)).toEqual([]);
  expect(sampled).toBeGreaterThan(rounds);
  // Each of them finds by a counted request that something is gone.
  expect(counted - known - atFirst).toBeLessThanOrEqual(changed + sampled + 2 * removed);
});
