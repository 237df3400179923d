/** Two people mirror half of a catalogue each, publish what they hold in folders, and follow each other's for a year. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { chooseUnloaded } from "../../../src/archive/published/follow.ts";
import { publishSnapshot } from "../../../src/archive/published/publish.ts";
import { readState } from "../../../src/archive/published/state.ts";
import { openSnapshot } from "../../../src/archive/snapshot/open.ts";
import { loadSnapshots } from "../../../src/mirror/load/load-snapshot.ts";
import { readLoadedSnapshots } from "../../../src/mirror/load/loaded-snapshots.ts";
import { readMirror } from "../../../src/mirror/reader.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { tries } from "../../support/thorough.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

/** In a year; in `npm run thorough`, one a day. */
const rounds = tries(4, 365);
const secondsBetween = (365 / rounds) * 86_400;
const sampleSize = 2;

it("two followers of each other end with the whole catalogue, and each change is paid for once", {
  timeout: 1_800_000,
}, async () => {
  await using rig = await startRig({ brands: 4, models: 10, sizes: 24, pageSize: 5, countRoot: true });
  const bodies = () => new Map([...rig.sandbox.truth()].map(({ url, body }) => [url, JSON.stringify(body)]));
  const brands = [...rig.sandbox.truth()].filter(({ kind }) => kind === "brand").map(({ url }) => url);
  const followers = ["first", "second"].map((name) => {
    const file = join(rig.file, "..", name, "catalogue.sqlite");
    const folder = join(rig.file, "..", `${name}-public`);
    mkdirSync(folder);
    return {
      ...rig,
      ...{ file, folder },
      sync: (more: Partial<SyncOptions> = {}) => rig.sync({ file, ...more }),
      read: ((read) => readMirror(file, read)) satisfies Rig["read"],
    };
  });
  type Follower = (typeof followers)[number];
  let counted = 0;
  let sampled = 0;
  let published = 0;
  const sync = async (follower: Follower, options: Partial<SyncOptions> = {}) => {
    counted += (await follower.sync({ approve: true, ...options })).requests.counted;
  };
  /** One publishes what has changed, and the other loads what is new in the folder. */
  const pass = async ({ file: mirror, folder }: Follower, to: Follower) => {
    await publishSnapshot({ mirror, folder, license: "CC0-1.0", now: rig.clock.now });
    const state = readState(folder);
    if (state === null) throw new Error("nothing was published");
    const loaded = to.read(({ db }) => readLoadedSnapshots(db));
    const unloaded = chooseUnloaded({ state, loaded, place: folder, address: null, folder: "" });
    const sources = await Promise.all(
      unloaded.map(async ({ file, rootHash, sequence, signature }) => {
        const one = await openSnapshot(join(folder, file), { rootHash, published: { sequence, signature } });
        return { ...one, description: { ...one.description, line: state.line } };
      }),
    );
    if (sources.length === 0) return;
    published += sources.length;
    const report = await loadSnapshots({ file: to.file, sources, kinds, sampleSize, now: rig.clock.now });
    sampled += report.sampled;
  };

  const [one, other] = followers as [Follower, Follower];
  const known = bodies().size;
  await sync(one, { brands: brands.slice(0, 2) });
  await sync(other, { brands: brands.slice(2) });
  await pass(one, other);
  await pass(other, one);
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
    await pass(payer, reader);
    await sync(reader);
  }
  for (const follower of followers) expect(differencesFromTruth(follower)).toEqual([]);
  expect(published).toBeGreaterThanOrEqual(rounds);
  expect(sampled).toBeGreaterThan(rounds);
  // Each of them finds by a counted request that something is gone.
  expect(counted - known - atFirst).toBeLessThanOrEqual(changed + sampled + 2 * removed);
});
