/**
 * The past, as a mirror shows it: what it said when a run had closed, it says for ever. What it said is kept by this test,
 * word for word, as each run closes.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { DueResource } from "../../../src/mirror/check-cycle.ts";
import { createAsOfViews } from "../../../src/mirror/past/as-of.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { tries } from "../../support/thorough.ts";
import { type MirrorRig, problemsOf, startMirrorRig, walk } from "../support/mirror-rig.ts";
import { publicState } from "../support/public-state.ts";
import { entity, page, root, urlOf, worldOf, worldOfTruth } from "../support/world.ts";

const advance = fc.record({
  changes: fc.nat(6),
  additions: fc.nat(3),
  removals: fc.nat(3),
  returns: fc.nat(2),
  moves: fc.nat(3),
  /** After so many batches the run ends with the rest due. */
  maxBatches: fc.integer({ min: 1, max: 40 }),
  approve: fc.boolean(),
  rebuilds: fc.boolean(),
  /** Links that are followed from this run on. */
  follow: fc.subarray(["related", "same_cut", "adjacent_sizes", "sizing"]),
});

it("shows each run's state as it was when the run closed, whatever came after", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1000),
      fc.array(advance, { minLength: 2, maxLength: 8 }),
      async (seed, history) => {
        await using sandbox = await startSandbox({ brands: 3, models: 6, sizes: 14, pageSize: 2, seed });
        await using rig = await startMirrorRig(sandbox.url);
        const mirror = await rig.write();
        const kept = new Map<number, ReturnType<typeof publicState>>();
        const followed = new Set<string>();
        for (const { maxBatches, approve, rebuilds, follow, ...moves } of history) {
          const world = worldOfTruth(sandbox.truth({ optional: true }));
          for (const name of follow) followed.add(name);
          const { runId } = walk(mirror, world, { follow: [...followed], maxBatches, approve });
          kept.set(runId, publicState(mirror.db));
          if (rebuilds) mirror.rebuild();
          sandbox.advance(moves);
        }
        expectShown(rig, kept);
      },
    ),
    { numRuns: tries(5, 100), endOnFailure: true },
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
  ["one after the other", (due: readonly DueResource[]) => due.slice(0, 1)],
  ["one after the other, the last first", (due: readonly DueResource[]) => due.slice(-1)],
])(
  "shows what was known as something else, or as nobody's, as it was known then, and a rebuild does too: asked %s",
  async (_order, choose) => {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    const kept = new Map<number, ReturnType<typeof publicState>>();
    const follow = ["novelty", "shelf", "related"];
    for (const listed of [["b/1/"], ["b/1/", "b/2/"], ["b/1/", "b/2/"], ["b/1/", "b/2/", "b/3/"], ["b/1/"]]) {
      const { runId } = walk(mirror, novelty(listed), { follow, choose });
      kept.set(runId, publicState(mirror.db));
      expect(problemsOf(mirror)).toEqual([]);
    }
    expect(mirror.db.prepare("select name from brand order by name").pluck().all()).toEqual([
      "B1",
      "B2",
      "B3",
    ]);
    expectShown(rig, kept);
    mirror.rebuild();
    expect(problemsOf(mirror)).toEqual([]);
    expectShown(rig, kept);
  },
);

it.each([
  ["still there", ["b/1/", "b/2/"]],
  ["gone", ["b/1/"]],
])(
  "shows what was read before it was known what it is as not read yet, also when it is rebuilt: %s then",
  async (_then, listed) => {
    await using rig = await startMirrorRig();
    const mirror = await rig.write();
    const kept = new Map<number, ReturnType<typeof publicState>>();
    const read = {
      follow: ["novelty"],
      choose: (due: readonly DueResource[]) => due.slice(-1),
      approve: true,
    };
    const [before, after] = [novelty(["b/1/", "b/2/"]), novelty(listed)];
    if (listed.length === 1) after.delete(urlOf("b/2/"));
    for (const world of [before, after, after]) {
      const { runId } = walk(mirror, world, read);
      kept.set(runId, publicState(mirror.db));
      mirror.rebuild();
      expectShown(rig, kept);
      expect(problemsOf(mirror)).toEqual([]);
    }
    expect(kept.get(1)?.brand).toHaveLength(1);
    expect(kept.get(3)?.brand_current).toHaveLength(listed.length);
  },
);

it("shows a closed run's state as it was while the next run is being written", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const { runId } = walk(mirror, novelty(["b/1/"]), { follow: ["related"] });
  const kept = new Map([[runId, publicState(mirror.db)]]);
  let batches = 0;
  walk(mirror, novelty(["b/1/", "b/2/"]), {
    follow: ["related", "novelty"],
    choose(due) {
      batches++;
      expectShown(rig, kept);
      return due.slice(0, 2);
    },
  });
  expect(batches).toBeGreaterThan(3);
  expectShown(rig, kept);
});

function expectShown(rig: MirrorRig, kept: ReadonlyMap<number, ReturnType<typeof publicState>>): void {
  for (const [runId, state] of kept) {
    const reader = openMirrorReader(rig.file);
    try {
      createAsOfViews(reader.db, runId);
      expect({ runId, ...publicState(reader.db) }).toEqual({ runId, ...state });
    } finally {
      reader.close();
    }
  }
}
