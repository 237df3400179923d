/** A mirror shows the state after every closed run for ever. These tests record the state as each run closes, and compare. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { createAsOfViews } from "../../../src/mirror/past/as-of.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import type { DueResource } from "../../../src/mirror/scope.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { tries } from "../../support/thorough.ts";
import { crawl, type MirrorRig, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { publicState } from "../support/public-state.ts";
import { entity, page, root, urlOf, worldOf, worldOfTruth } from "../support/world.ts";

const advance = fc.record({
  changes: fc.nat(6),
  additions: fc.nat(3),
  removals: fc.nat(3),
  returns: fc.nat(2),
  moves: fc.nat(3),
  /** The run ends after this number of batches, with resources still due. */
  maxBatches: fc.integer({ min: 1, max: 40 }),
  approve: fc.boolean(),
  rebuilds: fc.boolean(),
  /** Links followed from this run on. */
  follow: fc.subarray(["related", "same_cut", "adjacent_sizes", "sizing"]),
});

it("the state after each run is the same after all later runs", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1000),
      fc.array(advance, { minLength: 2, maxLength: 8 }),
      async (seed, history) => {
        await using sandbox = await startSandbox({ brands: 3, models: 6, sizes: 14, pageSize: 2, seed });
        await using rig = await startMirrorRig(sandbox.url);
        const mirror = await rig.write();
        const states = new Map<number, ReturnType<typeof publicState>>();
        const followed = new Set<string>();
        for (const { maxBatches, approve, rebuilds, follow, ...moves } of history) {
          const world = worldOfTruth(sandbox.truth({ optional: true }));
          for (const name of follow) followed.add(name);
          const { runId } = crawl(mirror, world, { follow: [...followed], maxBatches, approve });
          states.set(runId, publicState(mirror.db));
          if (rebuilds) mirror.rebuild();
          sandbox.advance(moves);
        }
        expectShown(rig, states);
      },
    ),
    { numRuns: tries(3, 100), endOnFailure: true },
  );
});

const novelty = (listed: readonly string[]) =>
  worldOf({
    "": root({ brands: urlOf("brands/"), novelty: urlOf("b/2/"), shelf: urlOf("b/3/") }),
    "brands/": page(listed),
    "b/1/": entity({ name: "B1" }, { models: urlOf("b/1/models/") }),
    "b/1/models/": page(listed.length > 1 ? ["m/1/", "m/2/"] : ["m/1/"]),
    "m/1/": entity({ name: "M1" }, { related: urlOf("m/1/related/") }),
    "m/1/related/": page(["m/2/"]),
    "m/2/": entity({ name: "M2" }),
    "b/2/": entity({ name: "B2" }),
    "b/3/": entity({ name: "B3" }),
  });

it.each([
  ["all at once", (due: readonly DueResource[]) => due],
  ["one by one", (due: readonly DueResource[]) => due.slice(0, 1)],
  ["one by one, the last first", (due: readonly DueResource[]) => due.slice(-1)],
])(
  "a resource whose kind or owner changed is shown as it was known then, before and after a rebuild: requests %s",
  async (_order, choose) => {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    const states = new Map<number, ReturnType<typeof publicState>>();
    const follow = ["novelty", "shelf", "related"];
    for (const listed of [["b/1/"], ["b/1/", "b/2/"], ["b/1/", "b/2/"], ["b/1/", "b/2/", "b/3/"], ["b/1/"]]) {
      const { runId } = crawl(mirror, novelty(listed), { follow, choose });
      states.set(runId, publicState(mirror.db));
      expect(problemsOf(mirror)).toEqual([]);
    }
    expect(mirror.db.prepare("select name from brand order by name").pluck().all()).toEqual([
      "B1",
      "B2",
      "B3",
    ]);
    expectShown(rig, states);
    mirror.rebuild();
    expect(problemsOf(mirror)).toEqual([]);
    expectShown(rig, states);
  },
);

it.each([
  ["present", ["b/1/", "b/2/"]],
  ["gone", ["b/1/"]],
])(
  "a resource fetched before its kind was known is shown as not fetched yet, before and after a rebuild: later %s",
  async (_then, listed) => {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    const states = new Map<number, ReturnType<typeof publicState>>();
    const read = {
      follow: ["novelty"],
      choose: (due: readonly DueResource[]) => due.slice(-1),
      approve: true,
    };
    const [before, after] = [novelty(["b/1/", "b/2/"]), novelty(listed)];
    if (listed.length === 1) after.delete(urlOf("b/2/"));
    for (const world of [before, after, after]) {
      const { runId } = crawl(mirror, world, read);
      states.set(runId, publicState(mirror.db));
      mirror.rebuild();
      expectShown(rig, states);
      expect(problemsOf(mirror)).toEqual([]);
    }
    expect(states.get(1)?.brand).toHaveLength(1);
    expect(states.get(3)?.brand_current).toHaveLength(listed.length);
  },
);

it("the state after a closed run does not change while the next run is written", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const { runId } = crawl(mirror, novelty(["b/1/"]), { follow: ["related"] });
  const states = new Map([[runId, publicState(mirror.db)]]);
  let batches = 0;
  crawl(mirror, novelty(["b/1/", "b/2/"]), {
    follow: ["related", "novelty"],
    choose(due) {
      batches++;
      expectShown(rig, states);
      return due.slice(0, 2);
    },
  });
  expect(batches).toBeGreaterThan(3);
  expectShown(rig, states);
});

function expectShown(rig: MirrorRig, states: ReadonlyMap<number, ReturnType<typeof publicState>>): void {
  for (const [runId, state] of states) {
    const reader = openMirrorReader(rig.file);
    try {
      createAsOfViews(reader.db, runId);
      expect({ runId, ...publicState(reader.db) }).toEqual({ runId, ...state });
    } finally {
      reader.close();
    }
  }
}

it("the oldest check of a kind is unknown once one of its resources was checked again", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const world = worldOf({
    "": root(),
    "brands/": page(["b/1/", "b/2/"]),
    "b/1/": entity({ name: "B1" }),
    "b/2/": entity({ name: "B2" }),
  });
  const { runId } = crawl(mirror, world);
  mirror.db.exec(`update _resource set checked_at = iif(url like '%b/1/', 1000, 2000)`);
  const oldestChecks = (run: number | null) =>
    rig.read(({ db }) => {
      if (run !== null) createAsOfViews(db, run);
      return db.prepare("select kind, oldest_check_at from coverage order by kind").raw().all();
    });
  const first = [
    ["brand", "1970-01-01T00:00:01.000Z"],
    ["brands", "1970-01-01T00:00:02.000Z"],
    ["root", "1970-01-01T00:00:02.000Z"],
  ];
  expect(oldestChecks(null)).toEqual(first);
  expect(oldestChecks(runId)).toEqual(first);
  const isFirstBrand = ({ url }: DueResource) => url.endsWith("b/1/");
  crawl(mirror, world, { choose: (due) => due.filter(isFirstBrand), maxBatches: 1 });
  expect(oldestChecks(runId)).toEqual([["brand", null], ...first.slice(1)]);
  expect(oldestChecks(null)).toEqual([["brand", "1970-01-01T00:00:02.000Z"], ...first.slice(1)]);
});
