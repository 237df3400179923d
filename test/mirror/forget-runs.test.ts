/** Forgetting runs: every run that is kept shows what it showed, word for word, and so it does when all is computed anew. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { openMirrorReader } from "../../src/mirror/mirror.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { canonicalDump } from "../support/canonical-dump.ts";
import { currentBodies } from "../support/current-bodies.ts";
import { problemsOf, someTime, startMirrorRig, walk } from "./mirror-rig.ts";
import { publicState } from "./public-state.ts";
import { worldOfTruth } from "./world.ts";

const follow = ["related", "same_cut", "adjacent_sizes", "sizing"];

const advance = fc.record({
  changes: fc.nat(6),
  additions: fc.nat(3),
  removals: fc.nat(3),
  returns: fc.nat(3),
  moves: fc.nat(3),
  /** After so many batches the run ends with the rest due. */
  maxBatches: fc.integer({ min: 1, max: 40 }),
  approve: fc.boolean(),
  rebuilds: fc.boolean(),
  /** Of the runs so far, which are forgotten when this one has ended; the latest never is. */
  forgets: fc.option(fc.nat(255), { freq: 2 }),
});

type State = Readonly<Record<string, readonly string[]>>;

/** The list of changes is of revisions, of which there are fewer now. */
function expectTheSame(shown: State, kept: State): void {
  const { recently_changed: changes = [], ...state } = kept;
  const { recently_changed: remaining = [], ...other } = shown;
  expect(other).toEqual(state);
  expect(changes).toEqual(expect.arrayContaining([...remaining]));
}

it("leaves what every other run shows, and the mirror sound", async () => {
  let removed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1000),
      fc.array(advance, { minLength: 3, maxLength: 9 }),
      async (seed, history) => {
        await using sandbox = await startSandbox({ brands: 3, models: 6, sizes: 14, pageSize: 2, seed });
        await using rig = await startMirrorRig(sandbox.url);
        const mirror = await rig.write();
        const kept = new Map<number, State>();
        const expectKept = () => {
          for (const [run, state] of kept) {
            const reader = openMirrorReader(rig.file, { kind: "run", run });
            try {
              expectTheSame(publicState(reader.db), state);
            } finally {
              reader.close();
            }
          }
        };
        for (const { maxBatches, approve, rebuilds, forgets, ...moves } of history) {
          const world = worldOfTruth(sandbox.truth({ optional: true }));
          const { runId } = walk(mirror, world, { follow, maxBatches, approve });
          kept.set(runId, publicState(mirror.db));
          sandbox.advance(moves);
          if (forgets === null) continue;
          const dump = canonicalDump(mirror);
          const bodies = currentBodies(mirror);
          const ids = [...kept.keys()].filter((id) => id < runId && (forgets >> (id % 8)) % 2 === 1);
          removed += mirror.forget(ids, someTime).revisions;
          for (const id of ids) kept.delete(id);
          expectKept();
          expect(problemsOf(mirror)).toEqual([]);
          if (rebuilds) {
            mirror.rebuild();
            expectKept();
            expect(problemsOf(mirror)).toEqual([]);
          }
          expect(canonicalDump(mirror)).toEqual(dump);
          expect(currentBodies(mirror)).toEqual(bodies);
        }
        expectKept();
      },
    ),
    { numRuns: 25, endOnFailure: true },
  );
  expect(removed).toBeGreaterThan(0);
});
