/** Services that change and fail at random: each sync ends after few requests, and is exact once the faults are over. */
import { existsSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { dayMillis } from "../../../src/platform/clock.ts";
import type { FaultRuleInput } from "../../../src/sandbox/faults/fault-rules.ts";
import { variants } from "../../../src/sandbox/variants.ts";
import { problemsOf } from "../../mirror/support/mirror-rig.ts";
import { tries } from "../../support/thorough.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 5, models: 18, sizes: 40, pageSize: 3, paginateSizes: true };

const lists = ["brands", "models", "sizes"] as const;
const entities = ["brand", "model", "size"] as const;

/** None takes long, and none ends the run. */
const faultsOfAll = [
  ...[400, 404, 410, 500, 503].map((status) => ({ fault: "status", status }) as const),
  ...(
    ["hang-up", "truncate", "not-json", "close-after", "missing-links", "null-links", "empty-meta"] as const
  ).map((fault) => ({ fault })),
];
const faultsOfLists = (
  [
    ...["next-self", "next-earlier", "next-beyond", "next-missing", "wrong-total", "drift"],
    ...["null-collection", "empty-collection", "items-without-href", "relative-hrefs"],
  ] as const
).map((fault) => ({ fault }));

const rule: fc.Arbitrary<FaultRuleInput> = fc
  .oneof(
    fc.record({ kind: fc.constantFrom(...lists, ...entities), of: fc.constantFrom(...faultsOfAll) }),
    fc.record({ kind: fc.constantFrom(...lists), of: fc.constantFrom(...faultsOfLists) }),
  )
  .chain(({ kind, of }) =>
    fc.record({
      kind: fc.constant(kind),
      every: fc.integer({ min: 1, max: 4 }),
      times: fc.constantFrom(1, 2, 5, "always" as const),
      fault: fc.constant(of.fault),
      ...("status" in of && { status: fc.constant(of.status) }),
    }),
  );

const round = fc.record({
  edits: fc.record({
    changes: fc.integer({ min: 0, max: 4 }),
    additions: fc.integer({ min: 0, max: 3 }),
    removals: fc.integer({ min: 0, max: 2 }),
    returns: fc.integer({ min: 0, max: 1 }),
    moves: fc.integer({ min: 0, max: 3 }),
  }),
  rules: fc.array(rule, { maxLength: 4 }),
  mode: fc.constantFrom("incremental", "verify", "full"),
  order: fc.constantFrom("breadth", "depth", "value"),
  approve: fc.boolean(),
  concurrency: fc.constantFrom(1, 4, 16),
  budget: fc.option(fc.integer({ min: 1, max: 60 })),
  days: fc.integer({ min: 0, max: 40 }),
});

/** @returns why the sync is wrong; null if it is not */
async function syncOnce(
  rig: Rig,
  options: Omit<Parameters<Rig["sync"]>[0], "signal">,
): Promise<string | null> {
  // A request is repeated at most three times, and a list is read at most twice in a run.
  const most = 8 * ([...rig.sandbox.truth()].length + countKnown(rig)) + 50;
  const since = rig.sandbox.log().at(-1)?.n ?? 0;
  const runaway = new AbortController();
  const onProgress = () => {
    if (rig.sandbox.log(since).length > most) runaway.abort();
  };
  await rig.sync({ ...options, onProgress, signal: runaway.signal }).catch((error) => {
    if (error.code !== "nothing-fetched") throw error;
  });
  const sent = rig.sandbox.log(since).length;
  return sent > most ? `${sent} requests for ${most}` : null;
}

/** A run that fetches nothing makes no mirror. */
const countKnown = (rig: Rig): number =>
  existsSync(rig.file)
    ? rig.read(({ db }) => Number(db.prepare("select count(*) from _resource").pluck().get()))
    : 0;

it("a sync of a service that changes and fails at random ends, and is exact once the faults are over", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1000 }),
      fc.constantFrom(...variants.layout),
      fc.constantFrom(...variants.pagination),
      fc.array(round, { minLength: 2, maxLength: 5 }),
      async (seed, layout, pagination, rounds) => {
        await using rig = await startRig({ ...world, seed, layout, pagination, allowance: 1_000_000 });
        for (const { edits, rules, days, ...options } of rounds) {
          rig.sandbox.setFaults(rules);
          expect(await syncOnce(rig, options)).toBeNull();
          if (countKnown(rig) > 0) expect(rig.read(problemsOf)).toEqual([]);
          rig.sandbox.advance(edits);
          rig.sandbox.moveClock({ advanceSeconds: (days * dayMillis) / 1000 + 1 });
        }
        rig.sandbox.setFaults([]);
        for (let day = 0; day < 4; day++) {
          expect(await syncOnce(rig, { mode: "full", approve: true })).toBeNull();
          rig.sandbox.moveClock({ advanceSeconds: (40 * dayMillis) / 1000 });
        }
        expect(differencesFromTruth(rig)).toEqual([]);
      },
    ),
    { numRuns: tries(3, 300), endOnFailure: true },
  );
});
