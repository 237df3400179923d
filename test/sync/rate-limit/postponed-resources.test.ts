/** A `Retry-After` of more than a minute: of one resource alone, or of all. */
import { describe, expect, it } from "vitest";
import { readStatus } from "../../../src/query/status/status.ts";
import type { FaultRuleInput } from "../../../src/sandbox/faults/fault-rules.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { planSync } from "../../../src/sync/plan/preview.ts";
import { startRedis } from "../../support/redis.ts";
import { someOf } from "../../support/thorough.ts";
import { catalogueAt, startFetchWorkers } from "../../support/workers.ts";
import { differencesFromTruth } from "../support/compare-with-truth.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 6, models: 20, sizes: 30, pageSize: 3 };
const statuses = [403, 429, 503];
const hour = { advanceSeconds: 3601 };

const waiting = (status: number, rule: Omit<FaultRuleInput, "fault"> = {}): FaultRuleInput => {
  return { times: "always", ...rule, fault: "status", status, retryAfter: "3600" } as FaultRuleInput;
};
const refusalsIn = ({ sandbox }: Rig) => sandbox.log().filter(({ status }) => statuses.includes(status));
const planOf = ({ file, sandbox, clock }: Rig) => planSync({ file, baseUrl: sandbox.url, clock });

describe.each(someOf(statuses, 2))("one resource that answers %d with a Retry-After of an hour", (status) => {
  it.each(["x-ratelimit", "none"] as const)(
    "is postponed alone, and requested again after its time (rate-limit headers: %s)",
    async (fields) => {
      const headers = fields === "none" ? ({ allowanceHeaders: "none" } as const) : {};
      const alone = waiting(status, { kind: "model", positions: [2] });
      await using rig = await startRig({ ...world, ...headers, faults: [alone] });
      const until = rig.clock.now() + 3600_000;
      const first = await rig.sync();
      expect(first).toMatchObject({ stopped: null, complete: false, upToDate: false });
      expect(first.resources).toMatchObject({ failed: 0, pending: 0, postponed: 1 });
      expect(Math.abs(Date.parse(first.postponedUntil ?? "") - until)).toBeLessThan(60_000);
      const [refused, ...others] = refusalsIn(rig);
      expect(others).toEqual([]);
      const url = refused?.url ?? "";
      const detail = { url, retryAt: first.postponedUntil };
      expect(rig.read(readStatus)).toMatchObject({
        complete: false,
        failures: [],
        postponed: [{ ...detail, error: expect.stringMatching(`^postponed: answered ${status}`) }],
      });
      const plan = planOf(rig);
      expect(plan.postponed).toEqual([{ ...detail, kind: "model" }]);
      expect(plan.due.filter(({ kind, fetch }) => kind === "model" && fetch > 0)).toEqual([]);
      expect(plan.next.map((next) => next.url)).not.toContain(url);

      rig.sandbox.clearLog();
      for (const mode of ["incremental", "verify"] as const) {
        const report = await rig.sync({ mode });
        expect(report).toMatchObject({ stopped: null, resources: { failed: 0, pending: 0, postponed: 1 } });
      }
      expect(rig.sandbox.log().map((request) => request.url)).not.toContain(url);

      rig.sandbox.moveClock(hour);
      expect(planOf(rig).due).toContainEqual(expect.objectContaining({ kind: "model", fetch: 1 }));
      rig.sandbox.clearLog();
      expect(await rig.sync()).toMatchObject({ stopped: null, resources: { failed: 0, postponed: 1 } });
      expect(refusalsIn(rig).map((request) => request.url)).toEqual([url]);

      rig.sandbox.setFaults([]);
      rig.sandbox.moveClock(hour);
      expect(await rig.sync()).toMatchObject({ stopped: null, complete: true, resources: { postponed: 0 } });
      expect(differencesFromTruth(rig)).toEqual([]);
      expect(rig.read(readStatus)).toMatchObject({ complete: true, postponed: [] });
    },
  );

  it("is not requested in a check either, and keeps its last values", async () => {
    await using rig = await startRig(world);
    await rig.sync();
    rig.sandbox.setFaults([waiting(status, { kind: "brand", positions: [1] })]);
    rig.sandbox.moveClock({ advanceSeconds: 90_000 });
    const report = await rig.sync({ mode: "verify" });
    expect(report).toMatchObject({ complete: true, upToDate: false, stopped: null });
    expect(report.resources).toMatchObject({ failed: 0, gone: 0, postponed: 1, pending: 0 });
    const [url] = rig.read(readStatus).postponed.map((postponed) => postponed.url);
    rig.sandbox.clearLog();
    expect(await rig.sync({ mode: "verify" })).toMatchObject({ resources: { postponed: 1, pending: 0 } });
    expect(rig.sandbox.log().map((request) => request.url)).not.toContain(url);
    rig.sandbox.setFaults([]);
    rig.sandbox.moveClock(hour);
    expect(await rig.sync({ mode: "verify" })).toMatchObject({ upToDate: true, resources: { postponed: 0 } });
  });

  it("is postponed alone through workers too", async () => {
    await using redis = await startRedis();
    await using rig = await startRig({
      ...world,
      faults: [waiting(status, { kind: "model", positions: [2] })],
    });
    await using _workers = await startFetchWorkers(2, {
      redis: redis.url,
      principals: [catalogueAt(rig.sandbox.url)],
    });
    const workers = { redis: redis.url };
    const first = await rig.sync({ workers });
    expect(first).toMatchObject({ stopped: null, resources: { failed: 0, pending: 0, postponed: 1 } });
    expect(refusalsIn(rig)).toHaveLength(1);
    expect(await rig.sync({ workers })).toMatchObject({ stopped: null, resources: { postponed: 1 } });
    expect(refusalsIn(rig)).toHaveLength(1);
    rig.sandbox.setFaults([]);
    rig.sandbox.moveClock(hour);
    expect(await rig.sync({ workers })).toMatchObject({ complete: true });
    expect(differencesFromTruth(rig)).toEqual([]);
  });
});

it("several resources that ask to wait at the same time are each postponed alone", async () => {
  const rule = { kind: "model" as const, positions: [1, 2, 3, 4, 5, 6, 7, 8] };
  await using rig = await startRig({ ...world, faults: [waiting(429, rule)] });
  expect(await rig.sync({ concurrency: 8 })).toMatchObject({
    stopped: null,
    resources: { failed: 0, pending: 0, postponed: 8 },
  });
  expect(refusalsIn(rig)).toHaveLength(8);
  rig.sandbox.setFaults([]);
  rig.sandbox.moveClock(hour);
  expect(await rig.sync()).toMatchObject({ complete: true });
  expect(differencesFromTruth(rig)).toEqual([]);
});

it("a run ends when the fourth resource in a row asks to wait, and later runs send nothing until then", async () => {
  const shape = { brands: 1, models: 20, sizes: 20, pageSize: 50 };
  await using rig = await startRig({ ...shape, faults: [waiting(429, { kind: "model" })] });
  expect(await rig.sync({ concurrency: 1 })).toMatchObject({ stopped: "allowance", complete: false });
  expect(refusalsIn(rig)).toHaveLength(4);
  rig.sandbox.clearLog();
  await rig.sync({ concurrency: 1 });
  expect(rig.sandbox.log()).toEqual([]);
});

it("a postponed resource is due when the clock was put back since", async () => {
  await using rig = await startRig({ ...world, faults: [waiting(429, { kind: "model", positions: [2] })] });
  await rig.sync();
  rig.sandbox.setFaults([]);
  rig.sandbox.moveClock({ advanceSeconds: -90_000 });
  expect(await rig.sync()).toMatchObject({ complete: true, resources: { postponed: 0 } });
});

it("a wait of years for one resource ends after a day", async () => {
  const years = { ...waiting(429, { kind: "model", positions: [2] }), retryAfter: "99999999" };
  await using rig = await startRig({ ...world, faults: [years] });
  expect(await rig.sync()).toMatchObject({ stopped: null, resources: { postponed: 1 } });
  rig.sandbox.setFaults([]);
  rig.sandbox.moveClock({ advanceSeconds: 86_401 });
  expect(await rig.sync()).toMatchObject({ complete: true });
});

it("the user of an account is not requested before its time, and nothing else is then", async () => {
  await using rig = await startRig(world);
  const account = { area: "account", credential: bearerToken(rig.sandbox.users[0]?.token ?? "") } as const;
  await rig.sync(account);
  rig.sandbox.setFaults([waiting(429, { kind: "me" })]);
  expect(await rig.sync(account)).toMatchObject({ resources: { failed: 0, postponed: 1 } });
  rig.sandbox.clearLog();
  expect(await rig.sync(account)).toMatchObject({ resources: { failed: 0, postponed: 1 } });
  expect(refusalsIn(rig)).toEqual([]);
  rig.sandbox.setFaults([]);
  rig.sandbox.moveClock(hour);
  expect(await rig.sync(account)).toMatchObject({ complete: true, resources: { postponed: 0 } });
});

describe("a service that asks to wait whatever is requested", () => {
  it.each([403, 429])(
    "is asked at most 3 times in a window with status %d, over all runs",
    async (status) => {
      await using rig = await startRig({ ...world, allowanceHeaders: "none" });
      await rig.sync({ budget: 20 });
      rig.sandbox.setFaults([waiting(status)]);
      rig.sandbox.clearLog();
      const first = await rig.sync({ concurrency: 1 });
      expect(first).toMatchObject({ stopped: "allowance", resources: { failed: 0, postponed: 0 } });
      expect(first.refusal).toMatch(/asks to wait, whatever is requested/);
      const wait = Date.parse(first.resumeAt ?? "") - rig.clock.now();
      expect(Math.abs(wait - 3600_000)).toBeLessThan(60_000);
      expect(await rig.sync()).toMatchObject({ stopped: "allowance", requests: { sent: 0 } });
      for (let hours = 0; hours < 6; hours++) {
        rig.sandbox.moveClock(hour);
        expect(await rig.sync({ concurrency: 1 })).toMatchObject({ stopped: "allowance" });
      }
      expect(refusalsIn(rig)).toHaveLength(3);
      rig.sandbox.setFaults([]);
      rig.sandbox.moveClock({ advanceSeconds: 86_401 });
      expect(await rig.sync()).toMatchObject({ complete: true });
      expect(differencesFromTruth(rig)).toEqual([]);
    },
  );

  it("is asked twice and then once in each hour with status 503, and the run after it continues", async () => {
    await using rig = await startRig(world);
    await rig.sync({ budget: 20 });
    rig.sandbox.setFaults([waiting(503)]);
    rig.sandbox.clearLog();
    expect(await rig.sync({ concurrency: 1 }).catch((error: unknown) => error)).toMatchObject({
      message: expect.stringMatching(/answered 503.* and asks to wait, whatever is requested/),
    });
    expect(refusalsIn(rig)).toHaveLength(2);
    expect(await rig.sync()).toMatchObject({ stopped: "allowance", requests: { sent: 0 } });
    for (let hours = 0; hours < 4; hours++) {
      rig.sandbox.moveClock(hour);
      await rig.sync({ concurrency: 1 }).catch(() => {});
    }
    expect(refusalsIn(rig)).toHaveLength(2 + 4);
    rig.sandbox.setFaults([]);
    rig.sandbox.moveClock(hour);
    expect(await rig.sync()).toMatchObject({ complete: true });
  });

  it("stops a sync through workers after at most 3 refusals", async () => {
    await using redis = await startRedis();
    await using rig = await startRig({ ...world, allowanceHeaders: "none" });
    await using _workers = await startFetchWorkers(2, {
      redis: redis.url,
      principals: [catalogueAt(rig.sandbox.url)],
    });
    const workers = { redis: redis.url };
    await rig.sync({ workers, budget: 20 });
    rig.sandbox.setFaults([waiting(429)]);
    rig.sandbox.clearLog();
    expect(await rig.sync({ workers, concurrency: 1 })).toMatchObject({ stopped: "allowance" });
    expect(refusalsIn(rig).length).toBeLessThanOrEqual(3);
    rig.sandbox.clearLog();
    expect(await rig.sync({ workers })).toMatchObject({ stopped: "allowance", requests: { sent: 0 } });
    expect(rig.sandbox.log()).toEqual([]);
  });
});
