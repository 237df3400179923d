/** How a run handles absent resources, against a sandbox that deletes them and returns wrong lists. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FaultName } from "../../../src/sandbox/faults/faults.ts";
import { problemsOf } from "../../mirror/support/mirror-rig.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 12, models: 24, sizes: 30, pageSize: 4 };
const verify = { mode: "verify" } as const;

function gone(rig: Rig): string[] {
  return rig.read(({ db }) =>
    db.prepare<[], string>("select url from _resource where state = 'gone' order by url").pluck().all(),
  );
}

const truth = (rig: Rig) => new Set([...rig.sandbox.truth()].map(({ url }) => url));

describe("inconsistent lists", () => {
  it.each<FaultName>(["wrong-total", "next-endless", "drift"])(
    "an inconsistent list (%s) is reported, deletes nothing, and is repaired by the next sync",
    async (fault) => {
      await using rig = await startRig(world);
      await rig.sync();
      rig.sandbox.setFaults([{ kind: "brands", positions: [2], times: "always", fault }]);
      const report = await rig.sync(verify);
      expect(report).toMatchObject({
        complete: false,
        resources: { partial: 1, gone: 0, awaitingApproval: 0 },
      });
      expect(gone(rig)).toEqual([]);
      expect(rig.read(problemsOf)).toEqual([]);
      rig.sandbox.setFaults([]);
      expect(await rig.sync(verify)).toMatchObject({ complete: true, resources: { partial: 0, gone: 0 } });
      expect(differencesFromTruth(rig)).toEqual([]);
    },
  );

  it("an inconsistent list is read at most twice in a run, and the second time only if it changed", async () => {
    await using rig = await startRig(world);
    await rig.sync();
    rig.sandbox.setFaults([{ kind: "brands", positions: [2], times: "always", fault: "wrong-total" }]);
    const firstPage = [...rig.sandbox.truth()].find(({ kind }) => kind === "brands")?.url;
    const countReads = async () => {
      rig.sandbox.clearLog();
      await rig.sync(verify);
      return rig.sandbox.log().filter(({ url }) => url === firstPage).length;
    };
    expect(await countReads()).toBe(2);
    expect(await countReads()).toBe(1);
  });
});

describe("bulk deletions", () => {
  it("the absence of a fifth of a list at once waits for approval, and creates tombstones after it", async () => {
    await using rig = await startRig({ ...world, pageSize: 20 });
    await rig.sync();
    rig.sandbox.advance({ removals: 5, kind: "brand" });
    const report = await rig.sync(verify);
    expect(report).toMatchObject({ stopped: "approval", complete: false, resources: { gone: 0 } });
    expect(report.resources.awaitingApproval).toBeGreaterThanOrEqual(5);
    expect(report.bulkDeletions).toContainEqual(
      expect.objectContaining({
        kind: "brand",
        absent: 5,
        of: 12,
        collection: expect.stringContaining("brands"),
      }),
    );
    expect(gone(rig)).toEqual([]);
    const approved = await rig.sync({ ...verify, approve: true });
    expect(approved).toMatchObject({ stopped: null, bulkDeletions: [], resources: { awaitingApproval: 0 } });
    await rig.sync(verify);
    expect(differencesFromTruth(rig)).toEqual([]);
  });

  it("a mirror is not emptied when the service returns only 404", async () => {
    await using rig = await startRig(world);
    await rig.sync();
    rig.sandbox.setFaults(
      (["brands", "brand", "models", "model", "sizes", "size"] as const).map((kind) => ({
        ...{ kind, times: "always", fault: "status", status: 404 },
      })),
    );
    expect(await rig.sync(verify)).toMatchObject({ stopped: "approval" });
    const countGone = () =>
      rig.read(({ db }) => db.prepare("select count(*) from brand where gone_at is not null").pluck().get());
    expect(countGone()).toBe(0);
    rig.sandbox.setFaults([]);
    await rig.sync(verify);
    expect(await rig.sync(verify)).toMatchObject({ complete: true, resources: { awaitingApproval: 0 } });
    expect(differencesFromTruth(rig)).toEqual([]);
  });
});

it("a sync of one brand creates no tombstones of other brands", async () => {
  await using rig = await startRig(world);
  await rig.sync();
  const [name] = rig.read(({ db }) =>
    db.prepare<[], string>("select name from brand order by name").pluck().all(),
  );
  rig.sandbox.advance({ removals: 2, kind: "model" });
  await rig.sync({ ...verify, brands: [name ?? ""], approve: true });
  const live = truth(rig);
  expect(gone(rig).filter((url) => live.has(url))).toEqual([]);
});

it("no existing resource becomes a tombstone, whatever changes between runs that stop early", async () => {
  const step = fc.record({
    ...{ changes: fc.nat(2), additions: fc.nat(2), removals: fc.nat(2), moves: fc.nat(3) },
    budget: fc.integer({ min: 1, max: 30 }),
    mode: fc.constantFrom("incremental" as const, "verify" as const),
  });
  await fc.assert(
    fc.asyncProperty(fc.nat(1000), fc.array(step, { minLength: 1, maxLength: 3 }), async (seed, steps) => {
      await using rig = await startRig({
        seed,
        brands: 6,
        models: 10,
        sizes: 12,
        pageSize: 2,
        paginateSizes: true,
      });
      await rig.sync();
      for (const { budget, mode, ...advance } of steps) {
        rig.sandbox.advance(advance);
        await rig.sync({ budget, mode, approve: true });
        const live = truth(rig);
        expect(gone(rig).filter((url) => live.has(url))).toEqual([]);
      }
      for (let runs = 0; runs < 3; runs++) await rig.sync({ ...verify, approve: true });
      expect(differencesFromTruth(rig)).toEqual([]);
    }),
    { numRuns: 2 },
  );
});
