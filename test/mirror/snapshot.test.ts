/**
 * The past, as a mirror shows it: what it said when a run had closed, it says for ever. What it said is kept by this test,
 * word for word, as each run closes.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { openMirrorReader } from "../../src/mirror/mirror.ts";
import { showAsOf } from "../../src/mirror/snapshot.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { startMirrorRig, walk } from "./mirror-rig.ts";
import { publicState } from "./public-state.ts";
import { worldOfTruth } from "./world.ts";

const follow = ["related", "same_cut", "adjacent_sizes", "sizing"];

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
        for (const { maxBatches, approve, rebuilds, ...moves } of history) {
          const world = worldOfTruth(sandbox.truth({ optional: true }));
          const { runId } = walk(mirror, world, { follow, maxBatches, approve });
          kept.set(runId, publicState(mirror.db));
          if (rebuilds) mirror.rebuild();
          sandbox.advance(moves);
        }
        for (const [runId, state] of kept) {
          const reader = openMirrorReader(rig.file);
          try {
            showAsOf(reader.db, runId);
            expect(publicState(reader.db)).toEqual(state);
          } finally {
            reader.close();
          }
        }
      },
    ),
    { numRuns: 15 },
  );
});
