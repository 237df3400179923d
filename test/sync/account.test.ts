/** The mirror of an account: what the same walk makes of a user's own data. */
import { statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bearerToken } from "../../src/service/credential.ts";
import type { SyncOptions } from "../../src/sync/sync.ts";
import { canonicalDump } from "../support/canonical-dump.ts";
import { type Rig, startRig } from "./rig.ts";

/** @param n which of the sandbox's users */
function accountOf({ sandbox }: Rig, n = 0): Partial<SyncOptions> {
  return { area: "account", credential: bearerToken(sandbox.users[n]?.token ?? "") };
}

const kindsIn = (rig: Rig) =>
  rig.read(({ db }) =>
    Object.fromEntries(
      db
        .prepare<[], [string, number]>(
          "select kind, count(*) from _resource where state = 'held' group by kind order by kind",
        )
        .raw()
        .all(),
    ),
  );

describe("the mirror of an account", () => {
  it("holds the user, her bras and her measurements, and nothing of the catalogue", async () => {
    await using rig = await startRig();
    const report = await rig.sync(accountOf(rig));
    expect(report).toMatchObject({ complete: true, stopped: null });
    const { bra, measurement, ...others } = kindsIn(rig);
    expect(others).toEqual({ root: 1, me: 1, bras: 1, measurements: expect.any(Number) });
    expect(bra).toBe(30);
    expect(measurement).toBeGreaterThan(0);
    const { users, bras, measurements } = rig.read(({ db }) => ({
      users: db.prepare("select username, email is not null as has_email from user").all(),
      bras: db.prepare("select count(*) from bra where brand_href is not null").pluck().get(),
      measurements: db.prepare("select count(*) from measurement").pluck().get(),
    }));
    expect(users).toEqual([{ username: "anna", has_email: 1 }]);
    expect(bras).toBe(30);
    expect(measurements).toBe(measurement);
  });

  it("is for nobody else's eyes", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    expect(statSync(rig.file).mode & 0o777).toBe(0o600);
  });

  it("is checked whole in every run, which costs nothing where nothing changed", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    const before = rig.read(canonicalDump);
    const held = Object.values(kindsIn(rig)).reduce((sum, count) => sum + count, 0);
    rig.sandbox.clearLog();
    const report = await rig.sync(accountOf(rig));
    expect(report).toMatchObject({
      complete: true,
      requests: { counted: 0 },
      resources: { unchanged: held, pending: 0, notChecked: 0 },
    });
    expect(rig.sandbox.log().filter(({ status }) => status === 304)).toHaveLength(held);
    expect(rig.read(canonicalDump)).toEqual(before);
  });

  it("leaves alone what was checked more recently than --max-age", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    rig.sandbox.clearLog();
    const { resources } = await rig.sync({ ...accountOf(rig), maxAgeMillis: 3_600_000 });
    expect(rig.sandbox.log()).toHaveLength(0);
    expect(resources).toMatchObject({ pending: 0, notChecked: expect.any(Number) });
    expect(resources.notChecked).toBeGreaterThan(30);
  });

  it("gets all of it on days of few requests, although checks are counted", async () => {
    await using rig = await startRig({ allowance: 10, countNotModified: true, countRoot: true });
    let report = await rig.sync(accountOf(rig));
    for (let day = 1; day < 20 && Object.values(kindsIn(rig)).length < 6; day++) {
      rig.sandbox.moveClock({ advanceSeconds: 86_400 });
      report = await rig.sync(accountOf(rig));
      expect(report.stopped).toBe("allowance");
    }
    expect(kindsIn(rig)).toMatchObject({ measurement: expect.any(Number) });
  });
});
