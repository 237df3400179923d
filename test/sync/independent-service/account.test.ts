import { describe, expect, it } from "vitest";
import { dayMs, type Options } from "../../support/independent-service/options.ts";
import { someOf } from "../../support/thorough.ts";
import { differencesFromAccount } from "./support/compare-with-data.ts";
import { accountOf, allScopes, authorize, type IndependentRig, startIndependentRig } from "./support/rig.ts";

const variants: Readonly<Record<string, Partial<Options>>> = {
  "the default choices": {},
  "relative addresses on the paths of the specification": { addresses: "relative", layout: "specified" },
  "measurements within their collection": { measurements: "inline" },
  "measurements on one page": { paged: [] },
  "null for lengths that nobody measured": { unmeasured: "null" },
  "no validators": { validators: "none" },
};

const kindsHeld = (rig: IndependentRig) =>
  rig.read(({ db }) =>
    db.prepare("select distinct kind from _resource where state = 'held' order by kind").pluck().all(),
  );

describe("account at the independent service", () => {
  it.each(someOf(Object.entries(variants), 3))(
    "the mirror of an account is exact, with %s",
    async (_name, options) => {
      await using rig = await startIndependentRig(options);
      for (const user of [0, 1]) {
        const authorization = authorize(rig, allScopes, user);
        const file = `${rig.folder}/${user}.sqlite`;
        const report = await rig.sync({ ...accountOf(authorization), file });
        expect(report).toMatchObject({
          complete: true,
          notGranted: [],
          resources: { failed: 0, partial: 0 },
        });
        expect(differencesFromAccount(rig, authorization, { user, file })).toEqual([]);
      }
      const { requests } = rig.service;
      expect(requests.every(({ status }) => status === 200)).toBe(true);
      expect(requests.every(({ authorization }) => /^bearer canary-\d-\S+$/.test(authorization))).toBe(true);
    },
  );

  it("the mirror of an account is exact after edits, additions and a removal", async () => {
    await using rig = await startIndependentRig();
    const authorization = authorize(rig);
    await rig.sync(accountOf(authorization));
    rig.advance(dayMs);
    const now = rig.clock.now();
    const { data } = rig.service;
    const [first, second] = data.bras;
    if (first === undefined || second === undefined) throw new Error("no bras");
    Object.assign(first, { name: "New name", otherLabels: { JP: "E70" }, changedAt: now });
    data.bras.push({ ...second, id: 7, name: "Added", lengths: { wire_length: 19.999 }, changedAt: now });
    data.measurements.push({ id: 9, user: first.user, name: "2026-02-04", centimetres: {}, changedAt: now });
    const report = await rig.sync(accountOf(authorization));
    expect(report).toMatchObject({ complete: true, resources: { changed: expect.any(Number), gone: 0 } });
    expect(differencesFromAccount(rig, authorization)).toEqual([]);

    data.bras.splice(data.bras.indexOf(second), 1);
    data.removedAt = rig.clock.now();
    expect(await rig.sync(accountOf(authorization))).toMatchObject({
      complete: true,
      resources: { gone: 1 },
    });
    expect(differencesFromAccount(rig, authorization)).toEqual([]);
  });

  it("measurements on pages whose addresses end each day are live once", async () => {
    await using rig = await startIndependentRig({
      ...{ measurements: "inline", pageSize: 1, cursorWindowMs: dayMs },
    });
    const authorization = authorize(rig);
    const live = () =>
      rig.read(({ db }) =>
        db.prepare("select payload from measurement where gone_at is null order by payload").pluck().all(),
      );
    await rig.sync(accountOf(authorization));
    const measurements = live();
    expect(measurements.length).toBeGreaterThan(1);
    for (let day = 0; day < 2; day++) {
      rig.advance(dayMs);
      expect(await rig.sync(accountOf(authorization))).toMatchObject({ complete: true });
      expect(live()).toEqual(measurements);
    }
    expect(differencesFromAccount(rig, authorization)).toEqual([]);
  });

  it("the mirror of an account costs nothing counted when nothing has changed", async () => {
    await using rig = await startIndependentRig({
      ...{ allowance: { requests: 40, windowMs: dayMs, start: "fixed", per: "credential" } },
      allowanceFields: "x-epoch",
    });
    const authorization = authorize(rig);
    await rig.sync(accountOf(authorization));
    const before = rig.service.requests.length;
    rig.advance(dayMs);
    expect(await rig.sync(accountOf(authorization))).toMatchObject({ complete: true });
    const counted = rig.service.requests.slice(before).filter(({ isCounted }) => isCounted);
    expect(counted).toEqual([]);
  });
});

describe("scopes at the independent service", () => {
  it("a token without the scope email mirrors a user without one", async () => {
    await using rig = await startIndependentRig();
    const authorization = authorize(rig, ["wardrobe", "tape"]);
    const report = await rig.sync(accountOf(authorization));
    expect(report).toMatchObject({ complete: true, notGranted: ["email"] });
    expect(differencesFromAccount(rig, authorization)).toEqual([]);
    expect(rig.read(({ db }) => db.prepare("select email from user").pluck().all())).toEqual([null]);
  });

  it("a link that is missing with its scope is reported as not granted", async () => {
    await using rig = await startIndependentRig({ refusedScope: "no-link" });
    const report = await rig.sync(accountOf(authorize(rig, ["email", "tape"])));
    expect(report).toMatchObject({ complete: true, notGranted: ["bras"], resources: { failed: 0 } });
    expect(kindsHeld(rig)).toEqual(["me", "measurement", "measurements", "root"]);
  });

  it.each([403, 404] as const)(
    "a list that is refused with %d does not keep the rest from the mirror",
    async (refusedScope) => {
      await using rig = await startIndependentRig({ refusedScope });
      await rig.sync(accountOf(authorize(rig, ["email", "tape"])));
      expect(kindsHeld(rig)).toEqual(["me", "measurement", "measurements", "root"]);
    },
  );

  it.each(someOf([403, 404, "empty", "no-link"] as const, 2))(
    "a scope that is withdrawn (%s) removes nothing from the mirror",
    async (refusedScope) => {
      await using rig = await startIndependentRig({ refusedScope });
      await rig.sync(accountOf(authorize(rig)));
      const countBras = () =>
        rig.read(({ db }) => db.prepare("select count(*) from bra where gone_at is null").pluck().get());
      const before = countBras();
      for (let run = 0; run < 3; run++) {
        rig.advance(dayMs);
        await rig.sync(accountOf(authorize(rig, ["email", "tape"])));
        expect(countBras()).toBe(before);
      }
      rig.advance(dayMs);
      const authorization = authorize(rig);
      await rig.sync(accountOf(authorization));
      expect(await rig.sync(accountOf(authorization))).toMatchObject({ complete: true });
      expect(differencesFromAccount(rig, authorization)).toEqual([]);
    },
  );
});

describe("invalid tokens at the independent service", () => {
  it.each(someOf([200, 401, 403, 404] as const, 2))(
    "a token that is no longer valid is recognised by the body, with status %d",
    async (noToken) => {
      await using rig = await startIndependentRig({ noToken });
      const authorization = authorize(rig);
      await rig.sync(accountOf(authorization));
      rig.service.tokens.clear();
      await expect(rig.sync(accountOf(authorization))).rejects.toMatchObject({ code: "not-authenticated" });
      authorize(rig);
      expect(await rig.sync(accountOf(authorization))).toMatchObject({ complete: true });
      expect(differencesFromAccount(rig, authorization)).toEqual([]);
    },
  );
});
