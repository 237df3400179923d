/**
 * The same responses lead to the same mirror, in any order, in any batches and after any history. The bodies are the
 * sandbox's.
 */

import fc from "fast-check";
import { expect, it } from "vitest";
import type { DueResource } from "../../../src/mirror/scope.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { type CanonicalDump, canonicalDump } from "../../support/canonical-dump.ts";
import { tries } from "../../support/thorough.ts";
import { crawl, dumpOfFreshCrawl, problemsOf, startMirrorRig } from "../support/mirror-rig.ts";
import { worldOfTruth } from "../support/world.ts";

const small = { brands: 3, models: 6, sizes: 14, pageSize: 2, paginateSizes: true } as const;
const follow = ["related", "same_cut", "adjacent_sizes", "sizing"];

const sandboxOptions = fc.record({
  seed: fc.nat(1000),
  layout: fc.constantFrom("plain" as const, "opaque" as const),
  pagination: fc.constantFrom("page" as const, "cursor" as const),
});

/** Chooses some due resources in some order, by generated numbers. */
function chooser(numbers: Iterator<number>): (due: readonly DueResource[]) => DueResource[] {
  const below = (limit: number): number => Number(numbers.next().value) % limit;
  return (due) => {
    const remaining = [...due];
    const count = 1 + below(due.length);
    return Array.from({ length: count }, () => remaining.splice(below(remaining.length), 1)).flat();
  };
}

it("the same responses in any order and any batches make the same mirror", async () => {
  await fc.assert(
    fc.asyncProperty(sandboxOptions, fc.infiniteStream(fc.nat()), async (options, numbers) => {
      await using sandbox = await startSandbox({ ...small, ...options });
      const world = worldOfTruth(sandbox.truth({ optional: true }));
      await using rig = await startMirrorRig(sandbox.url);
      const mirror = await rig.write();
      crawl(mirror, world, { follow, choose: chooser(numbers) });
      expect(canonicalDump(mirror)).toEqual(await dumpOfFreshCrawl(sandbox.url, world, follow));
      expect(problemsOf(mirror)).toEqual([]);
    }),
    { numRuns: tries(4, 200) },
  );
});

it("after changes and interrupted runs a mirror is sound, rebuilds to the same state and equals a new mirror", async () => {
  const moves = fc.record({
    changes: fc.nat(4),
    additions: fc.nat(3),
    removals: fc.nat(3),
    returns: fc.nat(2),
    moves: fc.nat(3),
    /** The run is interrupted after this number of batches. */
    maxBatches: fc.integer({ min: 1, max: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(
      sandboxOptions,
      fc.array(moves, { minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.nat()),
      async (options, history, numbers) => {
        await using sandbox = await startSandbox({ ...small, ...options });
        await using rig = await startMirrorRig(sandbox.url);
        const mirror = await rig.write();
        const choose = chooser(numbers);
        const world = () => worldOfTruth(sandbox.truth({ optional: true }));
        for (const { maxBatches, ...advance } of history) {
          crawl(mirror, world(), { follow, choose, maxBatches, approve: true });
          expectSoundAndRebuildable();
          sandbox.advance(advance);
        }
        // Each run follows the links that the run before has found.
        for (let crawls = 0; crawls < 3; crawls++) crawl(mirror, world(), { follow, choose, approve: true });
        expectSoundAndRebuildable();
        expect(heldOf(canonicalDump(mirror))).toEqual(
          heldOf(await dumpOfFreshCrawl(sandbox.url, world(), follow)),
        );

        function expectSoundAndRebuildable(): void {
          expect(problemsOf(mirror)).toEqual([]);
          const before = canonicalDump(mirror);
          mirror.rebuild();
          expect(canonicalDump(mirror)).toEqual(before);
          expect(problemsOf(mirror)).toEqual([]);
        }
      },
    ),
    { numRuns: tries(4, 200) },
  );
});

/** Without tombstones, which a new mirror does not have. */
function heldOf(dump: CanonicalDump): CanonicalDump {
  return Object.fromEntries(Object.entries(dump).filter(([, { state }]) => state === "held"));
}
