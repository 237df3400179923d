/** Refusals that do not say why: a resource is forbidden, the allowance is spent, or the client is blocked. */
import { describe, expect, it } from "vitest";
import { formatPlan } from "../../../src/cli/format/mirror/plan.ts";
import type { FaultRuleInput } from "../../../src/sandbox/faults/fault-rules.ts";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { planSync } from "../../../src/sync/plan/preview.ts";
import { someOf } from "../../support/thorough.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

const small = { brands: 6, models: 40, sizes: 60, pageSize: 3 };
const withoutRateLimit = { kind: "rate_limit", times: "always", fault: "status", status: 404 } as const;
const silent: SandboxOptions = { ...small, allowanceHeaders: "none", faults: [withoutRateLimit] };
const day = { advanceSeconds: 86_401 };

const refusalsIn = ({ sandbox }: Rig) =>
  sandbox.log().filter(({ status }) => status === 403 || status === 429).length;
const countedIn = ({ sandbox }: Rig) => sandbox.log().filter(({ counted }) => counted).length;

describe.each(someOf(["bare-403", "bare-429"] as const, 1))(
  "an allowance whose end shows as a %s",
  (spentResponse) => {
    it.each([true, false])(
      "the run stops after at most 3 refusals, keeps everything due, and learns the limit (304 counted: %s)",
      async (countNotModified) => {
        await using rig = await startRig({ ...silent, spentResponse, countNotModified, allowance: 40 });
        for (let days = 0; days < 3; days++) {
          rig.sandbox.clearLog();
          const report = await rig.sync();
          expect(report).toMatchObject({
            stopped: "allowance",
            resources: { failed: 0, gone: 0 },
            refusal: expect.stringMatching(/without saying why; the allowance is spent, or .* blocks/),
          });
          expect(report.resources.pending).toBeGreaterThan(0);
          expect(Date.parse(report.resumeAt ?? "")).toBeGreaterThan(rig.sandbox.now().getTime());
          expect(countedIn(rig)).toBe(40);
          expect(refusalsIn(rig)).toBeLessThanOrEqual(days === 0 ? 3 : 1);
          // The ledger remembers: nothing is sent in the same window.
          rig.sandbox.clearLog();
          expect(await rig.sync()).toMatchObject({ stopped: "allowance", requests: { sent: 0 } });
          expect(rig.sandbox.log()).toEqual([]);
          const plan = () => planSync({ file: rig.file, baseUrl: rig.sandbox.url, clock: rig.clock });
          expect(plan().refusal).toBe(report.refusal);
          expect(formatPlan(plan(), "value", rig.clock.now())).toContain(`\nRefused    ${report.refusal}\n`);
          rig.sandbox.moveClock(day);
          expect(plan().refusal).toBeUndefined();
        }
      },
    );
  },
);

describe("a blocked client", () => {
  it("a client that is refused while much remains stops after the attempts of the first resource, until the window ends", async () => {
    const limit: SandboxOptions = { ...small, allowance: 1_000, faults: [withoutRateLimit] };
    await using rig = await startRig(limit);
    await rig.sync({ budget: 20 });
    rig.sandbox.clearLog();
    rig.sandbox.setFaults([{ times: "always", fault: "status", status: 429 }]);
    const attempts = 4;
    const report = await rig.sync({ concurrency: 1 });
    expect(report).toMatchObject({ stopped: "allowance", resources: { failed: 0, gone: 0 } });
    expect(report.refusal).toMatch(/answered 429/);
    expect(refusalsIn(rig)).toBeLessThanOrEqual(attempts + 1);
    rig.sandbox.clearLog();
    expect(await rig.sync()).toMatchObject({ stopped: "allowance", requests: { sent: 0 } });
    rig.sandbox.setFaults([]);
    rig.sandbox.moveClock(day);
    expect(await rig.sync()).toMatchObject({ complete: true });
    expect(differencesFromTruth(rig)).toEqual([]);
  });

  it("a client that is blocked stops after at most 3 refusals, with everything due", async () => {
    await using rig = await startRig(silent);
    await rig.sync({ budget: 20 });
    rig.sandbox.clearLog();
    rig.sandbox.setFaults([{ times: "always", fault: "bare-refusal" }]);
    const report = await rig.sync({ concurrency: 1 });
    expect(report).toMatchObject({ stopped: "allowance", resources: { failed: 0, gone: 0 } });
    expect(report.refusal).toMatch(/answered 403/);
    expect(refusalsIn(rig)).toBeLessThanOrEqual(3);
    rig.sandbox.setFaults([]);
    rig.sandbox.moveClock(day);
    expect(await rig.sync()).toMatchObject({ complete: true });
    expect(differencesFromTruth(rig)).toEqual([]);
  });
});

describe("a forbidden resource", () => {
  const forbid = (positions: number[], status: number) =>
    ({ kind: "model", positions, times: "always", fault: "bare-refusal", status }) as const;

  it.each([403, 429])(
    "a single resource that is refused with %d among answered ones is that resource's failure",
    async (status) => {
      await using rig = await startRig({ ...silent, faults: [withoutRateLimit, forbid([3, 7, 8], status)] });
      const report = await rig.sync();
      expect(report).toMatchObject({ stopped: null, resources: { failed: 3, pending: 0 } });
      expect(refusalsIn(rig)).toBe(3);
    },
  );

  it("a resource that is always busy while much remains is that resource's failure", async () => {
    const busy: FaultRuleInput = {
      ...{ kind: "model", positions: [3, 7], times: "always", fault: "status", status: 429 },
    };
    await using rig = await startRig({ ...small, allowance: 1_000, faults: [withoutRateLimit, busy] });
    const report = await rig.sync();
    expect(report).toMatchObject({ stopped: null, resources: { failed: 2, pending: 0 } });
  });

  it("many resources that are forbidden do not keep others from being fetched and checked", async () => {
    const positions = Array.from({ length: 12 }, (_, index) => 20 + index);
    await using rig = await startRig({ ...silent, faults: [withoutRateLimit, forbid(positions, 403)] });
    let report = await rig.sync();
    for (let days = 0; days < 12 && report.stopped !== null; days++) {
      rig.sandbox.moveClock(day);
      report = await rig.sync();
    }
    expect(report).toMatchObject({ stopped: null, resources: { failed: 12, pending: 0 } });
    rig.sandbox.advance({ changes: 5, kind: "brand" });
    rig.sandbox.moveClock(day);
    expect(await rig.sync()).toMatchObject({ stopped: null, resources: { failed: 12 } });
  });

  it("a scope is not taken for refused when the allowance is spent without an explanation", async () => {
    await using rig = await startRig({ ...silent, spentResponse: "bare-403", allowance: 1 });
    const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
    const report = await rig.sync({ area: "account", credential });
    expect(report).toMatchObject({ stopped: "allowance", notGranted: [], resources: { failed: 0 } });
    expect(refusalsIn(rig)).toBeLessThanOrEqual(3);
  });

  it("scopes that are refused without an explanation are not granted, and the rest is fetched", async () => {
    await using rig = await startRig({ ...silent, missingScope: "403" });
    rig.sandbox.editUser("anna", { scopes: ["identity"] });
    const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
    expect(await rig.sync({ area: "account", credential })).toMatchObject({
      complete: true,
      notGranted: ["email", "bras", "measurements"],
    });
    expect(refusalsIn(rig)).toBe(2);
  });
});

it("four resources that are always refused fail alone in each run of a window, and no limit is learned", async () => {
  const alone: FaultRuleInput = {
    kind: "model",
    positions: [1, 4, 7, 10],
    times: "always",
    fault: "bare-refusal",
  };
  await using rig = await startRig({ ...silent, faults: [withoutRateLimit, alone] });
  for (let runs = 0; runs < 5; runs++) {
    const report = await rig.sync({ mode: "verify" });
    expect(report).toMatchObject({ stopped: null, resources: { failed: 4 } });
  }
});
