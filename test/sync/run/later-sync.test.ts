import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { someOf, tries } from "../../support/thorough.ts";
import { differencesFromTruth, truthOf } from "../support/compare-with-truth.ts";
import { layouts } from "../support/layouts.ts";
import { type Rig, startRig } from "../support/rig.ts";

const count = fc.nat(3);
const step = fc.record({ changes: count, additions: count, removals: count, returns: count, moves: count });

describe.each(someOf(layouts, 1))("a later sync from $name", ({ options }) => {
  it("a later sync sends only conditional requests and spends nothing if nothing changed", async () => {
    await using rig = await startRig({ ...options, preset: "small" });
    const { resources } = await rig.sync();
    rig.sandbox.clearLog();
    const report = await rig.sync();
    expect(rig.sandbox.log().filter(({ conditional, counted }) => !conditional || counted)).toEqual([]);
    expect(report.resources).toMatchObject({ new: 0, changed: 0, unchanged: resources.new, gone: 0 });
    expect(report.requests).toMatchObject({ sent: resources.new, counted: 0, notModified: resources.new });
    expect(report.complete).toBe(true);
    expect(differencesFromTruth(rig)).toEqual([]);
  });

  it.each([
    ["requested after it ended", {}],
    ["dropped without a request", { budget: 1 }],
  ])("a resource that returns on a page that was %s is fetched again", async (_name, limit) => {
    await using rig = await startRig({ ...options, seed: 750, brands: 3, models: 6, sizes: 16, pageSize: 2 });
    const none = { changes: 0, additions: 0, removals: 0, returns: 0, moves: 0 };
    await rig.sync();
    for (const step of [{ removals: 1 }, { returns: 1 }]) {
      rig.sandbox.advance({ ...none, ...step });
      await rig.sync({ approve: true, ...limit });
      await rig.sync({ approve: true });
      expect(differencesFromTruth(rig)).toEqual([]);
    }
  });

  it("a later sync stores exactly the changes, and keeps everything else with its history", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(1000), fc.array(step, { minLength: 1, maxLength: 2 }), async (seed, steps) => {
        await using rig = await startRig({ ...options, seed, brands: 3, models: 6, sizes: 16, pageSize: 2 });
        await rig.sync();
        for (const request of steps) await expectOnlyChanges(rig, request);
      }),
      { numRuns: tries(3, 60) },
    );
  });

  it("a sync is right after runs that ended early while lists became shorter and longer", async () => {
    const partial = fc.record({ request: step, budget: fc.integer({ min: 1, max: 6 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1000),
        fc.array(partial, { minLength: 2, maxLength: 4 }),
        async (seed, runs) => {
          await using rig = await startRig({
            ...options,
            seed,
            brands: 3,
            models: 6,
            sizes: 16,
            pageSize: 2,
          });
          await rig.sync();
          for (const { request, budget } of runs) {
            rig.sandbox.advance(request);
            await rig.sync({ approve: true, budget });
          }
          // Ends the cycle of checks that the others began. A new one also requests tombstones that are still listed.
          await rig.sync({ approve: true });
          await rig.sync({ approve: true, mode: "full" });
          expect(differencesFromTruth(rig)).toEqual([]);
        },
      ),
      { numRuns: tries(3, 60) },
    );
  });
});

it("without ETags, --mode verify fetches everything again and stores only changes", async () => {
  await using rig = await startRig({ etag: "none", brands: 3, models: 6, sizes: 16 });
  const { resources } = await rig.sync();
  rig.sandbox.clearLog();
  const second = await rig.sync({ mode: "verify" });
  expect(second.resources).toMatchObject({ new: 0, changed: 0, unchanged: resources.new });
  expect(rig.sandbox.log()).toHaveLength(resources.new);
  expect(rig.read(({ db }) => db.prepare("select count(*) from _revision").pluck().get())).toBe(
    resources.new,
  );
});

/** Changes the sandbox, syncs, and compares the stored revisions with the difference of the two truths. */
async function expectOnlyChanges(rig: Rig, request: Parameters<Sandbox["advance"]>[0]): Promise<void> {
  const before = truthOf(rig);
  const supersededBefore = new Set(superseded(rig));
  rig.sandbox.advance(request);
  const after = truthOf(rig);
  const { run, resources, complete } = await rig.sync({ approve: true });

  expect(complete).toBe(true);
  expect(differencesFromTruth(rig)).toEqual([]);
  const differing = [...after].filter(([url, body]) => before.get(url) !== body).map(([url]) => url);
  expect(storedIn(rig, run)).toEqual(differing.sort());
  expect(resources.new + resources.changed).toBe(differing.length);
  const missing = [...before.keys()].filter((url) => !after.has(url));
  // A missing page is superseded; anything else is a tombstone.
  const newlySuperseded = superseded(rig).filter((url) => !supersededBefore.has(url));
  expect([...tombstonesOf(rig, run), ...newlySuperseded].sort()).toEqual(missing.sort());
}

function storedIn(rig: Rig, run: number | null): string[] {
  return queryUrls(
    rig,
    "select url from _resource join _revision on resource_id = id where from_run = ?",
    run,
  );
}

function tombstonesOf(rig: Rig, run: number | null): string[] {
  return queryUrls(rig, "select url from _resource where gone_run = ? and state = 'gone'", run);
}

function superseded(rig: Rig): string[] {
  return queryUrls(rig, "select url from _resource where state = 'superseded'");
}

function queryUrls(rig: Rig, sql: string, ...values: (number | null)[]): string[] {
  return rig
    .read(({ db }) =>
      db
        .prepare<(number | null)[], string>(sql)
        .pluck()
        .all(...values),
    )
    .sort();
}
