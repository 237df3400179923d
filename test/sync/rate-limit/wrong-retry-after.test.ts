/** A `Retry-After` that proves wrong: requests are refused again after it. */
import { describe, expect, it } from "vitest";
import type { FaultRuleInput } from "../../../src/sandbox/faults/fault-rules.ts";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { someOf } from "../../support/thorough.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

const small = { brands: 6, models: 20, sizes: 30, pageSize: 3 };
const withoutRateLimit = { kind: "rate_limit", times: "always", fault: "status", status: 404 } as const;
const silent: SandboxOptions = { ...small, allowanceHeaders: "none", faults: [withoutRateLimit] };

const refusalsIn = ({ sandbox }: Rig) =>
  sandbox.log().filter(({ status }) => status === 403 || status === 429).length;

describe.each(someOf([403, 429], 1))("a client that is blocked with status %d", (status) => {
  it.each(["0", "@-86400", "1"])(
    "Retry-After %j costs at most 3 requests in a window, over all runs",
    async (retryAfter) => {
      await using rig = await startRig(silent);
      await rig.sync({ budget: 10 });
      rig.sandbox.setFaults([{ times: "always", fault: "status", status, retryAfter }]);
      rig.sandbox.clearLog();
      const report = await rig.sync({ concurrency: 1 });
      expect(report).toMatchObject({ stopped: "allowance", resources: { failed: 0, gone: 0 } });
      expect(Date.parse(report.resumeAt ?? "")).toBeGreaterThan(rig.clock.now() + 3_600_000);
      expect(await rig.sync()).toMatchObject({ stopped: "allowance", requests: { sent: 0 } });
      expect(refusalsIn(rig)).toBe(3);
      rig.sandbox.setFaults([]);
      rig.sandbox.moveClock({ advanceSeconds: 86_401 });
      expect(await rig.sync()).toMatchObject({ complete: true });
      expect(differencesFromTruth(rig)).toEqual([]);
    },
  );

  it("Retry-After of an hour costs at most 3 requests in a window, over all runs", async () => {
    await using rig = await startRig(silent);
    await rig.sync({ budget: 10 });
    rig.sandbox.setFaults([{ times: "always", fault: "status", status, retryAfter: "3600" }]);
    rig.sandbox.clearLog();
    for (let hours = 0; hours < 20; hours++) {
      const report = await rig.sync({ concurrency: 1 });
      expect(report).toMatchObject({ stopped: "allowance" });
      const wait = Date.parse(report.resumeAt ?? "") - rig.clock.now();
      if (hours === 3) expect(wait).toBeGreaterThan(20 * 3_600_000);
      rig.sandbox.moveClock({ advanceSeconds: 3601 });
    }
    expect(refusalsIn(rig)).toBe(3);
  });

  it("several requests at a time are refused once each, and then at most 2 more", async () => {
    await using rig = await startRig(silent);
    await rig.sync({ budget: 10 });
    rig.sandbox.setFaults([{ times: "always", fault: "status", status, retryAfter: "0" }]);
    rig.sandbox.clearLog();
    for (let runs = 0; runs < 3; runs++) await rig.sync({ concurrency: 4 });
    expect(refusalsIn(rig)).toBeLessThanOrEqual(4 + 2);
  });
});

describe.each(someOf([403, 429], 1))(
  "one resource that is always refused with status %d and Retry-After",
  (status) => {
    it("fails alone: everything else is fetched, and it costs two requests in each run", async () => {
      const alone: FaultRuleInput = {
        kind: "model",
        positions: [2],
        times: "always",
        fault: "status",
        status,
        retryAfter: "1",
      };
      await using rig = await startRig({ ...silent, faults: [withoutRateLimit, alone] });
      const first = await rig.sync();
      expect(first).toMatchObject({ stopped: null, complete: false, resources: { failed: 1 } });
      expect(refusalsIn(rig)).toBe(2);
      for (let days = 0; days < 3; days++) {
        rig.sandbox.moveClock({ advanceSeconds: 90_000 });
        rig.sandbox.clearLog();
        expect(await rig.sync({ mode: "verify" })).toMatchObject({ stopped: null, resources: { failed: 1 } });
        expect(refusalsIn(rig)).toBe(2);
      }
      rig.sandbox.setFaults([]);
      rig.sandbox.moveClock({ advanceSeconds: 90_000 });
      expect(await rig.sync()).toMatchObject({ complete: true });
      expect(differencesFromTruth(rig)).toEqual([]);
    });
  },
);

it.each(["-1", "soon", "", "1.5", "120, 60"])(
  "one resource with status 429 and Retry-After %j, which cannot be read, fails alone, as without it",
  async (retryAfter) => {
    const alone: FaultRuleInput = {
      ...{ kind: "brand", positions: [1], times: "always" },
      ...{ fault: "status", status: 429, retryAfter },
    };
    await using rig = await startRig({ ...silent, faults: [withoutRateLimit, alone] });
    for (let days = 0; days < 2; days++) {
      rig.sandbox.clearLog();
      expect(await rig.sync()).toMatchObject({ stopped: null, complete: false, resources: { failed: 1 } });
      expect(refusalsIn(rig)).toBeLessThanOrEqual(3);
      rig.sandbox.moveClock({ advanceSeconds: 90_000 });
    }
    rig.sandbox.setFaults([]);
    expect(await rig.sync()).toMatchObject({ complete: true });
    expect(differencesFromTruth(rig)).toEqual([]);
  },
);

it("a Retry-After that proves right may be sent any number of times in a window", async () => {
  const faults = [3, 6, 9, 12, 15, 18, 21, 24].map((position) => ({
    kind: "size" as const,
    positions: [position],
    times: 1,
    fault: "status" as const,
    status: 429,
    retryAfter: "1",
  }));
  await using rig = await startRig({ ...silent, faults: [withoutRateLimit, ...faults] });
  expect(await rig.sync()).toMatchObject({ complete: true, stopped: null });
  expect(refusalsIn(rig)).toBe(8);
});
