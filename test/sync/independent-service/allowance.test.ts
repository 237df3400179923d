import { describe, expect, it } from "vitest";
import { appCredential } from "../../../src/service/credentials/credential.ts";
import { type Allowance, dayMs, hourMs, type Options } from "../../support/independent-service/options.ts";
import { isThorough, someOf } from "../../support/thorough.ts";
import { differencesFromCatalogue } from "./support/compare-with-data.ts";
import { type IndependentRig, startIndependentRig } from "./support/rig.ts";

const daily = (requests: number): Allowance => ({
  requests,
  windowMs: dayMs,
  start: "fixed",
  per: "service",
});

/** Requests that the service refused. */
const refusalsOf = ({ service }: IndependentRig) =>
  service.requests.filter(({ status, isCounted }) => !isCounted && status !== 304);

const countedOf = ({ service }: IndependentRig) => service.requests.filter(({ isCounted }) => isCounted);

describe("allowance of the independent service", () => {
  const allowances = [
    [100, 403],
    [45, 503],
    ...(isThorough
      ? ([
          [316, 403],
          [60, 429],
          [23, 403],
        ] as const)
      : []),
  ] as const;
  it.each(allowances)(
    "an allowance of %d a day, refused with %d past it, is never exceeded, and each resource is fetched once",
    async (requests, refusal) => {
      await using rig = await startIndependentRig({
        ...{ allowance: daily(requests), allowanceFields: "x-epoch", refusal },
      });
      const reports = await rig.syncDaily();
      expect(differencesFromCatalogue(rig)).toEqual([]);
      expect(refusalsOf(rig)).toEqual([]);
      const targets = countedOf(rig).map(({ target }) => target);
      expect(new Set(targets).size).toBe(targets.length);
      expect(reports.length - Math.ceil(targets.length / requests)).toBeLessThanOrEqual(1);
      expect(reports.slice(0, -1).every(({ stopped }) => stopped === "allowance")).toBe(true);
    },
  );

  const refusals: readonly Partial<Options>[] = [
    { allowanceFields: "ietf", refusal: 429 },
    { allowanceFields: "none", refusal: 429 },
    { allowanceFields: "none", refusal: 429, retryAfter: "seconds" },
    { allowanceFields: "none", refusal: 403, retryAfter: "date" },
  ];
  it.each(someOf(refusals, 2))(
    "an allowance that the mirror learns of by a refusal costs one refusal a day, and one more to learn the reason: %j",
    async (options) => {
      await using rig = await startIndependentRig({ allowance: daily(80), ...options });
      const reports = await rig.syncDaily();
      expect(differencesFromCatalogue(rig)).toEqual([]);
      // A wait may concern one resource, so that is found out each day.
      const perDay = options.retryAfter === undefined ? 1 : 2;
      expect(refusalsOf(rig).length).toBeLessThanOrEqual(perDay * reports.length);
      expect(reports.reduce((sum, { resources }) => sum + resources.failed, 0)).toBe(0);
    },
  );

  it("an allowance that only 503s with a Retry-After show stops the run after ten refusals in a row", async () => {
    await using rig = await startIndependentRig({
      ...{ allowance: daily(60), allowanceFields: "none", refusal: 503, retryAfter: "seconds" },
    });
    const report = await rig.sync();
    expect(report).toMatchObject({ complete: false, stopped: "error" });
    // Ten in a row, and the requests that were running.
    expect(refusalsOf(rig).length).toBeLessThanOrEqual(13);
    rig.advance(dayMs);
    await rig.syncDaily();
    expect(differencesFromCatalogue(rig)).toEqual([]);
  });

  it("an allowance of a window that starts with a request lets each window be spent whole", async () => {
    const windowMs = 7 * hourMs;
    await using rig = await startIndependentRig({
      allowance: { requests: 50, windowMs, start: "first-request", per: "service" },
      ...{ allowanceFields: "x-epoch", refusal: 403 },
    });
    let report = await rig.sync();
    for (let window = 1; !report.complete && window < 20; window++) {
      expect(report).toMatchObject({ stopped: "allowance", requests: { counted: 50 } });
      rig.advance(Date.parse(report.resumeAt ?? "") - rig.clock.now());
      report = await rig.sync();
    }
    expect(differencesFromCatalogue(rig)).toEqual([]);
    expect(refusalsOf(rig)).toEqual([]);
  });

  it("an allowance of an application is spent apart from that without credentials", async () => {
    const credential = appCredential("key", "canary-secret");
    await using rig = await startIndependentRig({
      allowance: { ...daily(40), per: "credential", others: { "app key:canary-secret": 150 } },
      allowanceFields: "x-epoch",
    });
    expect(await rig.sync()).toMatchObject({ stopped: "allowance", requests: { counted: 40 } });
    expect(await rig.sync({ credential })).toMatchObject({
      stopped: "allowance",
      requests: { counted: 150 },
    });
    rig.advance(dayMs);
    expect(await rig.sync({ credential })).toMatchObject({ complete: true });
    expect(differencesFromCatalogue(rig)).toEqual([]);
    expect(refusalsOf(rig)).toEqual([]);
  });

  it("a rate_limit resource whose body is not understood is requested once a week", async () => {
    await using rig = await startIndependentRig({ allowanceFields: "none" });
    for (let day = 0; day < 9; day++) {
      await rig.sync({ depth: "brands" });
      rig.advance(dayMs);
    }
    const target = rig.service.addresses.write({ document: "rate" });
    const { pathname, search } = new URL(target, rig.service.baseUrl);
    expect(rig.service.requests.filter((request) => request.target === pathname + search)).toHaveLength(2);
  });
});
