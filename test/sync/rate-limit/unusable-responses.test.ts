/** An allowance that is spent, or a service that is down, whatever form its responses have. */
import { describe, expect, it } from "vitest";
import type { FaultRuleInput } from "../../../src/sandbox/faults/fault-rules.ts";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { someOf } from "../../support/thorough.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

const withoutRateLimit = { kind: "rate_limit", times: "always", fault: "status", status: 404 } as const;
const small: SandboxOptions = {
  ...{ brands: 6, models: 40, sizes: 60, pageSize: 3 },
  ...{ allowanceHeaders: "none", faults: [withoutRateLimit] },
};

const always = (fault: Omit<FaultRuleInput, "times">): FaultRuleInput[] => [
  withoutRateLimit,
  // The root is free at many services, so that it still responds.
  ...["brands", "brand", "models", "model", "sizes", "size"].map(
    (kind) => ({ kind, times: "always", ...fault }) as FaultRuleInput,
  ),
];
const status = (code: number) => always({ fault: "status", status: code });

const forms: readonly (readonly [string, (rig: Rig) => FaultRuleInput[]])[] = [
  [
    "a redirect to a page that refuses with 403",
    ({ sandbox }) => [
      { kind: "rate_limit", times: "always", fault: "bare-refusal" },
      ...always({ fault: "redirect", target: `${sandbox.url}rate-limit/` }).slice(1),
    ],
  ],
  [
    "a redirect to a page that refuses with 429",
    ({ sandbox }) => [
      { kind: "rate_limit", times: "always", fault: "status", status: 429, retryAfter: "1" },
      ...always({ fault: "redirect", target: `${sandbox.url}rate-limit/` }).slice(1),
    ],
  ],
  ["a redirect elsewhere", () => always({ fault: "redirect", target: "https://elsewhere.example/login" })],
  ["an endless redirect", () => always({ fault: "redirect-chain" })],
  ["a login page", () => always({ fault: "login-page" })],
  ["an empty object", () => always({ fault: "text", value: "{}" })],
  ["204", () => status(204)],
  ["400", () => status(400)],
  ["402", () => status(402)],
  ["404", () => status(404)],
  ["451", () => status(451)],
  ["500", () => status(500)],
  ["503", () => status(503)],
  ["509", () => status(509)],
  ["connections that break", () => always({ fault: "reset" })],
  ["connections that end", () => always({ fault: "hang-up" })],
];

const attempt = (rig: Rig, concurrency: number) =>
  rig.sync({ concurrency }).then(
    ({ stopped, refusal }) => ({ stopped, problem: refusal ?? "" }),
    ({ code, message }) => ({ stopped: code, problem: message }),
  );

describe.each(someOf(forms, 6))("an allowance whose end shows as %s", (form, faultsOf) => {
  // With one request at a time, the forms differ in redirects alone.
  it.each(form.includes("redirect") ? [1, 4] : [4])(
    "about ten requests are wasted, and everything stays due (concurrency: %d)",
    async (concurrency) => {
      await using rig = await startRig(small);
      await rig.sync({ budget: 20 });
      const before = await rig.sync({ budget: 0 });
      rig.sandbox.clearLog();
      rig.sandbox.setFaults(faultsOf(rig));
      const { stopped, problem } = await attempt(rig, concurrency);
      expect(stopped).toMatch(/^(?:allowance|error|nothing-fetched)$/);
      if (stopped !== "allowance") expect(problem).toContain("not answered in a way that can be used");
      // A chain of redirects is followed for each of the requests that run at the same time.
      expect(rig.sandbox.log().length).toBeLessThanOrEqual(
        form === "an endless redirect" ? 6 * (concurrency + 1) : 10,
      );
      const after = await rig.sync({ budget: 0 });
      expect(after.resources).toEqual(before.resources);
      rig.sandbox.moveClock({ advanceSeconds: 86_401 });
      rig.sandbox.setFaults([withoutRateLimit]);
      expect(await rig.sync()).toMatchObject({ complete: true, resources: { gone: 0, failed: 0 } });
      expect(differencesFromTruth(rig)).toEqual([]);
    },
  );
});

describe("resources that fail while others are answered", () => {
  it.each(["model", "sizes"] as const)(
    "all resources of kind %s fail, each for itself, and everything else is fetched",
    async (kind) => {
      await using rig = await startRig(small);
      rig.sandbox.setFaults([withoutRateLimit, { kind, times: "always", fault: "status", status: 400 }]);
      const report = await rig.sync();
      expect(report).toMatchObject({ stopped: null, resources: { pending: 0, failed: 40 } });
      // The examinations: ever fewer.
      const others = rig.sandbox.log().length - report.resources.new - report.resources.failed;
      expect(others).toBeLessThanOrEqual(10);
    },
  );

  it("resources that are deleted in a row are gone, also without a reported rest", async () => {
    await using rig = await startRig(small);
    await rig.sync();
    rig.sandbox.setFaults([
      withoutRateLimit,
      { kind: "size", positions: [1, 2, 3, 4, 5, 6, 7], times: "always", fault: "status", status: 404 },
    ]);
    const report = await rig.sync({ mode: "verify", approve: true });
    expect(report).toMatchObject({ stopped: null, resources: { gone: 7 } });
  });

  it("a run survives an outage of ten seconds", async () => {
    await using rig = await startRig(small);
    await rig.sync({ budget: 20 });
    rig.sandbox.setFaults(status(503));
    let slept = 0;
    const clock = {
      ...rig.clock,
      sleep: async (millis: number) => {
        slept += millis;
        if (slept > 10_000) rig.sandbox.setFaults([withoutRateLimit]);
      },
    };
    expect(await rig.sync({ clock })).toMatchObject({ stopped: null, resources: { pending: 0 } });
    expect(await rig.sync()).toMatchObject({ complete: true });
  });
});
