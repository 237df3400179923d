/** A run reports what it left out, and due checks stay due until a run has made them. */
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { listRuns } from "../../../src/mirror/runs/run-log.ts";
import { kindsInScope } from "../../../src/sync/options.ts";
import { countRemaining } from "../../../src/sync/plan/counts.ts";
import { planSync } from "../../../src/sync/plan/preview.ts";
import type { PlanRequest } from "../../../src/sync/plan/request.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 4, models: 12, sizes: 40, pageSize: 3 };
const daySeconds = 86_400;

async function heldRig(): Promise<Rig> {
  const rig = await startRig(world);
  await rig.sync();
  rig.sandbox.moveClock({ advanceSeconds: daySeconds });
  return rig;
}

const totalOf = (rig: Rig) => [...rig.sandbox.truth()].length;

describe("due checks", () => {
  it.each([
    ["few free checks", { maxFreeChecks: 1 }],
    ["a minimum age of checks", { skipFresherThanMillis: 7 * daySeconds * 1000 }],
  ])(
    "checks of resources that may have changed stay due in later runs with %s, until they are made",
    async (_case, limits) => {
      await using rig = await heldRig();
      rig.sandbox.advance({ steps: 3, kind: "size", changes: 15, additions: 5 });
      const interrupted = await rig.sync({ budget: 6 });
      expect(interrupted).toMatchObject({ upToDate: false, stopped: "budget" });
      const limited = await rig.sync(limits);
      expect(limited).toMatchObject({ upToDate: false, stopped: null });
      expect(limited.resources.pending).toBeGreaterThan(0);
      expect(await rig.sync()).toMatchObject({
        complete: true,
        resources: { pending: 0, notChecked: 0 },
      });
      expect(differencesFromTruth(rig)).toEqual([]);
    },
  );
});

describe("without changes", () => {
  it("a run that ends with its budget is not complete, and reports the missing checks", async () => {
    await using rig = await startRig({ ...world, allowance: null });
    await rig.sync();
    const report = await rig.sync({ budget: 5 });
    expect(report).toMatchObject({ upToDate: false, stopped: "budget", requests: { sent: 5 } });
    const checked = rig.read(({ db }) =>
      db.prepare<[], number>("select count(*) from _resource where checked_run = 2").pluck().get(),
    );
    expect(report.resources).toMatchObject({ pending: 0, notChecked: totalOf(rig) - (checked ?? 0) });
    expect(rig.read((mirror) => listRuns(mirror, 1))).toMatchObject([{ stopped: "budget" }]);
  });

  it("checks skipped by --skip-fresher-than are reported, and the mirror is complete", async () => {
    await using rig = await heldRig();
    const report = await rig.sync({ skipFresherThanMillis: 7 * daySeconds * 1000 });
    expect(report).toMatchObject({ complete: true, stopped: null });
    expect(report.resources.notChecked).toBe(totalOf(rig) - report.requests.sent);
  });

  it("a run that continues a crawl reports no skipped checks", async () => {
    await using rig = await startRig(world);
    await rig.sync({ budget: 20 });
    expect((await rig.sync()).resources).toMatchObject({ pending: 0, notChecked: 0 });
  });
});

it("what a run left out is counted without reading the resources", async () => {
  await using rig = await startRig(world);
  await rig.sync();
  const request: PlanRequest = {
    ...{ area: "catalogue", order: "value", mode: "incremental", runId: 2, cycleRun: 2 },
    scope: { kinds: kindsInScope(kinds, "catalogue", "sizes", []), belowIds: null },
    now: rig.clock.now,
    ...{ maxStalenessMillis: 30 * daySeconds * 1000, skipFresherThanMillis: 0, maxFreeChecks: null },
    allowance: () => ({ isAmple: false, checkPrice: "free" }),
  };
  rig.read(({ db }) => {
    const longest = observeLongestRead();
    const { notChecked } = countRemaining(db, request, { failedIds: [], hasMoreWork: false });
    expect(notChecked).toBe(totalOf(rig));
    // The root, the brands, and the lists of brands and models.
    expect(longest()).toBeLessThan(totalOf(rig) / 3);
  });
});

/** @returns a function that returns the number of rows of the longest result since */
function observeLongestRead(): () => number {
  const { prepare } = Database.prototype;
  let longest = 0;
  const observed = function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql);
    const all = statement.all as (...values: unknown[]) => unknown[];
    const read = (...values: unknown[]) => {
      const rows = all.apply(statement, values);
      longest = Math.max(longest, rows.length);
      return rows;
    };
    const iterate = (...values: unknown[]) => read(...values).values();
    for (const [name, value] of Object.entries({ all: read, iterate }))
      Object.defineProperty(statement, name, { value });
    return statement;
  };
  Database.prototype.prepare = observed as typeof prepare;
  onTestFinished(() => {
    Database.prototype.prepare = prepare;
  });
  return () => longest;
}

it("without any reported allowance, a sync counts its checks as its plan did", async () => {
  await using rig = await startRig({ ...world, allowance: null });
  const { file, sandbox, clock } = rig;
  await rig.sync();
  const prices = new Set<string>();
  // From 1,000 requests on, they are free.
  while (!prices.has("free")) {
    const { due } = planSync({ file, baseUrl: sandbox.url, clock });
    const planned = due.reduce((sum, { check, freeChecks }) => sum + check - freeChecks, 0);
    const { requests, allowance } = await rig.sync();
    if (allowance.checkPrice === "unknown") expect(requests.counted).toBeGreaterThanOrEqual(planned);
    if (planned === 0) expect(requests.counted).toBeLessThanOrEqual(1);
    else expect(planned).toBe(totalOf(rig));
    prices.add(planned === 0 ? "free" : "counted");
  }
  expect(prices).toEqual(new Set(["counted", "free"]));
});
