import { describe, expect, it } from "vitest";
import { countStates } from "../../../src/mirror/runs/runs.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { fetchesIn, urlsOf } from "../support/requests.ts";
import { startRig } from "../support/rig.ts";
import { dayMillis, syncUntilComplete } from "../support/sync-until-complete.ts";

const tiny = { brands: 2, models: 3, sizes: 5, pageSize: 2 };

it("a run that continues an interrupted one makes the checks that it had not made, however recent those before it", async () => {
  await using rig = await startRig({ brands: 10, models: 30, sizes: 60 });
  await rig.sync();
  rig.sandbox.advance({ changes: 12, additions: 6, moves: 1 });
  const interruption = new AbortController();
  const hasDue = () => rig.read(({ db }) => countStates(db)).due > 0;
  const onProgress = () => {
    if (hasDue()) interruption.abort();
  };
  await rig.sync({ signal: interruption.signal, onProgress });
  // Otherwise the next run would not continue this one.
  expect(hasDue()).toBe(true);
  expect(await rig.sync()).toMatchObject({ complete: true });
  expect(differencesFromTruth(rig)).toEqual([]);
});

describe("allowance", () => {
  it("a spent allowance is reported with the time of its reset", async () => {
    await using rig = await startRig({ ...tiny, allowance: 5, windowSeconds: 3600 });
    const report = await rig.sync();
    expect(report).toMatchObject({ complete: false, stopped: "allowance" });
    expect(report.allowance).toMatchObject({ limit: 5, remaining: 0, resetAt: report.resumeAt });
    const renewed = Date.parse(report.resumeAt ?? "") - rig.sandbox.now().getTime();
    expect(renewed).toBeGreaterThan(3_500_000);
    expect(renewed).toBeLessThanOrEqual(3_601_000);
  });

  it("a spent allowance does not stop free checks", async () => {
    await using rig = await startRig({ ...tiny, allowance: 40 });
    await rig.sync();
    rig.sandbox.moveClock({ advanceSeconds: dayMillis / 1000 });
    expect(await rig.sync({ concurrency: 8 })).toMatchObject({ complete: true, requests: { counted: 0 } });
  });

  it("a spent allowance stops the run at the first refusal, also if other clients spent it", async () => {
    await using rig = await startRig({ ...tiny, allowance: 100 });
    rig.sandbox.setFaults([{ from: 6, times: "always", fault: "allowance-spent", count: 600 }]);
    const report = await rig.sync({ concurrency: 2 });
    expect(report).toMatchObject({ stopped: "allowance", complete: false, resources: { failed: 0 } });
    expect(rig.sandbox.log().filter(({ status }) => status === 403).length).toBeLessThanOrEqual(2);
    rig.sandbox.setFaults([]);
    rig.sandbox.moveClock({ advanceSeconds: 601 });
    expect(await rig.sync()).toMatchObject({ complete: true });
  });

  it("a run after a spent allowance can resume within a day, although the service's clock is a year behind", async () => {
    await using rig = await startRig({ ...tiny, allowance: 5 });
    const clock = {
      now: () => rig.sandbox.now().getTime() + 365 * dayMillis,
      random: Math.random,
      sleep: async () => {},
    };
    const { stopped, resumeAt } = await rig.sync({ clock });
    expect(stopped).toBe("allowance");
    // A day after the first counted request, by the local clock.
    const waitMillis = Date.parse(resumeAt ?? "") - clock.now();
    expect(waitMillis).toBeGreaterThan(0);
    expect(waitMillis).toBeLessThanOrEqual(dayMillis);
    expect(rig.sandbox.log().filter(({ status }) => status !== 200)).toEqual([]);
  });
});

describe("budget", () => {
  it.each([2, 7])("a budget of %d lets the runs together fetch each resource once", async (budget) => {
    await using rig = await startRig(tiny);
    const reports = await syncUntilComplete(rig, { budget });
    expect(differencesFromTruth(rig)).toEqual([]);
    expect(urlsOf(fetchesIn(rig.sandbox.log()))).toEqual(
      [...rig.sandbox.truth()].map(({ url }) => url).sort(),
    );
    for (const { stopped, requests, complete } of reports) {
      expect(requests.counted).toBeLessThanOrEqual(budget);
      expect(stopped).toBe(complete ? null : "budget");
    }
  });

  it("a budget of 0 sends no request", async () => {
    await using rig = await startRig(tiny);
    expect(await rig.sync({ budget: 0 })).toMatchObject({ stopped: "budget", requests: { sent: 0 } });
    expect(rig.sandbox.log()).toEqual([]);
  });

  it("a budget is not spent by free requests", async () => {
    await using rig = await startRig(tiny);
    await rig.sync();
    expect(await rig.sync({ budget: 1, concurrency: 4 })).toMatchObject({
      complete: true,
      stopped: null,
      requests: { counted: 0 },
    });
  });

  it.each([2, 5])(
    "a budget of %d is kept although the price of a 304 shows only in the run",
    async (budget) => {
      for (const concurrency of [1, 4]) {
        await using rig = await startRig({ ...tiny, countNotModified: true });
        await rig.sync({ budget: 50 });
        for (let run = 0; run < 3; run++) {
          rig.sandbox.moveClock({ advanceSeconds: 86_401 });
          rig.sandbox.clearLog();
          const { requests } = await rig.sync({ budget, concurrency, maxStalenessMillis: 0 });
          const counted = rig.sandbox.log().filter((entry) => entry.counted).length;
          expect(counted).toBeLessThanOrEqual(budget);
          expect(requests.counted).toBeGreaterThanOrEqual(counted);
        }
      }
    },
  );

  it("a budget spreads the fetching of changes over several runs, without fetching any twice", async () => {
    await using rig = await startRig(tiny);
    await rig.sync();
    rig.sandbox.advance({ changes: 4, additions: 1, removals: 1 });
    rig.sandbox.clearLog();
    await syncUntilComplete(rig, { budget: 2 });
    expect(differencesFromTruth(rig)).toEqual([]);
    const counted = urlsOf(rig.sandbox.log().filter((entry) => entry.counted));
    expect(counted).toEqual([...new Set(counted)]);
  });
});

describe("refused runs", () => {
  it.each([
    ["a wait of hours", { fault: "status", status: 429, retryAfter: "7200" }],
    ["a refused credential", { fault: "not-authenticated" }],
  ] as const)("a refusal for the whole run (%s) is followed by few requests", async (_case, fault) => {
    await using rig = await startRig({ brands: 3, models: 60, sizes: 60 });
    rig.sandbox.setFaults([{ kind: "model", from: 3, times: "always", ...fault }]);
    await rig.sync({ concurrency: 4 }).catch(() => null);
    const refused = rig.sandbox.log().filter(({ status }) => status !== 200);
    // Three rounds may concern single resources only, the fourth concerns the run. In each, four requests run, and others
    // may begin while the refusal is examined.
    expect(refused.length).toBeLessThanOrEqual(4 * (4 + 2));
  });
});
