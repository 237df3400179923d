/** What mirrors that load published folders show: the newest state, or each one of the history. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { chooseUnloaded } from "../../../src/archive/published/follow.ts";
import { currentChain, readState } from "../../../src/archive/published/state.ts";
import { openSnapshot } from "../../../src/archive/snapshot/open.ts";
import { loadSnapshots } from "../../../src/mirror/load/load-snapshot.ts";
import { readLoadedSnapshots } from "../../../src/mirror/load/loaded-snapshots.ts";
import type { Point } from "../../../src/mirror/points/point.ts";
import { readMirror } from "../../../src/mirror/reader.ts";
import { crawl, problemsOf } from "../../mirror/support/mirror-rig.ts";
import { tries } from "../../support/thorough.ts";
import { catalogueWorld } from "../support/linked-catalogue-rig.ts";
import { now, type Publisher, rename, rows, startPublisher } from "./support/publisher.ts";

it("whole snapshots and increments show the mirror's state after any history, and a mirror loads them", async () => {
  const steps = fc.array(
    fc.record({ change: fc.constantFrom<string>("none", "rename", "remove", "return"), n: fc.nat(3) }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 0, max: 2 }), async (history, maxIncrements) => {
      await using rig = await startPublisher();
      let world = catalogueWorld();
      const shown = new Map<number, unknown[]>();
      for (const { change, n } of history) {
        if (change === "rename") rename(world, `Name ${n}`);
        if (change === "remove") world = catalogueWorld(["a", "b"]);
        if (change === "return") world = catalogueWorld();
        crawl(rig.mirror, world, { approve: true });
        const { sequence } = await rig.publish({ maxIncrements, keep: 2 });
        shown.set(sequence, rig.mirror.db.prepare(rows).all());
        expect(await rig.published()).toEqual(await rig.whole());
      }
      const state = readState(rig.folder);
      const chain = state === null ? [] : currentChain(state);
      expect(chain.length).toBeLessThanOrEqual(maxIncrements + 1);
      const sources = await Promise.all(chain.map(({ file }) => openSnapshot(join(rig.folder, file))));
      const file = join(rig.above, "loaded.sqlite");
      await loadSnapshots({ file, sources, kinds, now });
      const loaded = readMirror(file, ({ db }) => db.prepare(rows).all());
      expect(loaded).toEqual(rig.mirror.db.prepare(rows).all());
      await expectHistory(rig, shown);
    }),
    {
      numRuns: tries(3, 200),
      // The third is whole, and its state is that of the first.
      examples: [[["rename", "return", "rename"].map((change) => ({ change, n: 0 })), 1]],
    },
  );
});

/** What of a folder a mirror has yet to load with its history. */
function unloadedOf(folder: string, file: string) {
  const state = readState(folder);
  if (state === null) return { published: [], open: async () => [] };
  const loaded = existsSync(file) ? readMirror(file, ({ db }) => readLoadedSnapshots(db)) : [];
  const published = chooseUnloaded({
    ...{ state, loaded, place: folder, address: null, folder: "", withHistory: true },
  });
  const open = () =>
    Promise.all(
      published.map(async ({ file, rootHash, sequence, signature }) => {
        const one = await openSnapshot(join(folder, file), { rootHash, published: { sequence, signature } });
        return { ...one, description: { ...one.description, line: state.line } };
      }),
    );
  return { published, open };
}

/** A load with the history shows what the mirror showed at each publication that is still in the folder, and no more. */
async function expectHistory(
  { folder, above }: Pick<Publisher, "folder" | "above">,
  shown: ReadonlyMap<number, unknown[]>,
): Promise<void> {
  const file = join(above, "history.sqlite");
  const { published, open } = unloadedOf(folder, file);
  if (published.length === 0) return;
  expect(published).toEqual(readState(folder)?.snapshots);
  await loadSnapshots({ file, sources: await open(), kinds, now, withHistory: true, sampleSize: 4 });
  expect(unloadedOf(folder, file).published).toEqual([]);
  for (const [n, { sequence, takenOn }] of published.entries()) {
    const asOf: Point = { kind: "run", run: n + 1 };
    const loaded = readMirror(file, ({ db }) => db.prepare(rows).all(), asOf);
    expect({ sequence, loaded }).toEqual({ sequence, loaded: shown.get(sequence) });
    const endedAt = readMirror(file, ({ db }) =>
      db
        .prepare<[number], string>("select ended_at from _run where id = ?")
        .pluck()
        .get(n + 1),
    );
    expect(endedAt).toBe(`${takenOn}T00:00:00.000Z`);
  }
  readMirror(file, (mirror) => expect(problemsOf(mirror)).toEqual([]));
  rmSync(file);
}

it("an interrupted load of the history goes on with what it has not loaded", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  for (const name of ["One", "Two", "Three"]) {
    rename(world, name);
    crawl(rig.mirror, world);
    await rig.publish();
  }
  const file = join(rig.above, "loaded.sqlite");
  const stop = new AbortController();
  let resources = 0;
  const stopped = loadSnapshots({
    ...{ file, sources: await unloadedOf(rig.folder, file).open(), kinds, now, withHistory: true },
    signal: stop.signal,
    // After the first resource of the second one.
    onProgress: () => void (++resources > world.size && stop.abort(new Error("stopped"))),
  });
  await expect(stopped).rejects.toThrow("stopped");
  const { published, open } = unloadedOf(rig.folder, file);
  expect(published.map(({ sequence }) => sequence)).not.toContain(1);
  await loadSnapshots({ file, sources: await open(), kinds, now, withHistory: true });
  readMirror(file, (mirror) => {
    expect(mirror.db.prepare(rows).all()).toEqual(rig.mirror.db.prepare(rows).all());
    expect(problemsOf(mirror)).toEqual([]);
  });
  expect(unloadedOf(rig.folder, file).published).toEqual([]);
});

it("an increment without what it adds to is refused, and nothing changes", async () => {
  await using rig = await startPublisher();
  const world = catalogueWorld();
  crawl(rig.mirror, world);
  await rig.publish();
  rename(world, "Newer");
  crawl(rig.mirror, world);
  const { published } = await rig.publish();
  const increment = await openSnapshot(join(rig.folder, published?.file ?? ""));
  const file = join(rig.above, "loaded.sqlite");
  await expect(loadSnapshots({ file, sources: [increment], kinds, now })).rejects.toMatchObject({
    code: "gap",
  });
  expect(readdirSync(rig.above)).not.toContain("loaded.sqlite");
});
