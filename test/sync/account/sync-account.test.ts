/** Syncing the data of a token's user. */
import { existsSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readAccountUser } from "../../../src/mirror/account/user.ts";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { urlsOf } from "../support/requests.ts";
import { type Rig, startRig } from "../support/rig.ts";

/** @param n the index of the sandbox's user */
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

/** Every row of every table, including the run log and the bookkeeping. */
const everythingIn = (rig: Rig) =>
  rig.read(({ db }) =>
    Object.fromEntries(
      db
        .prepare<[], string>("select name from sqlite_schema where type = 'table' order by name")
        .pluck()
        .all()
        .map((table) => [table, db.prepare(`select * from ${table}`).raw().all()]),
    ),
  );

describe("mirror", () => {
  it.each<SandboxOptions>([
    { layout: "plain", pagination: "page" },
    { layout: "opaque", pagination: "cursor", serviceName: "other" },
  ])(
    "the mirror of an account holds the user, the bras and the measurements, and nothing of the catalogue: %j",
    async (options) => {
      await using rig = await startRig(options);
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
    },
  );

  it("the mirror of an account is readable by its owner only", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    expect(statSync(rig.file).mode & 0o777).toBe(0o600);
  });

  it("the mirror of an account is checked as a whole in every run, which is free if nothing changed", async () => {
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

  it("the mirror of an account is not checked where it was checked more recently than --skip-fresher-than", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    rig.sandbox.clearLog();
    const { resources } = await rig.sync({ ...accountOf(rig), skipFresherThanMillis: 3_600_000 });
    // The user of the token is identified nevertheless.
    expect(urlsOf(rig.sandbox.log())).toEqual([rig.sandbox.url, `${rig.sandbox.url}me/`]);
    expect(resources).toMatchObject({ pending: 0, notChecked: expect.any(Number) });
    expect(resources.notChecked).toBeGreaterThan(30);
  });

  it("the mirror of an account becomes complete with a small allowance, although checks are counted", async () => {
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

describe("user", () => {
  it("the user of a token is recorded by the first sync", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    const meta = rig.read(({ db }) => db.prepare("select key, value from _meta").raw().all());
    expect(Object.fromEntries(meta as [string, string][])).toMatchObject({
      user_id: "1000",
      username: "anna",
      me_url: `${rig.sandbox.url}me/`,
    });
  });

  it("the number of a user is recorded once the service sends it", async () => {
    await using rig = await startRig();
    rig.sandbox.setFaults([
      { kind: "me", fault: "set", pointer: "/body/user_id", value: null, times: "always" },
    ]);
    await rig.sync(accountOf(rig));
    expect(rig.read(({ db }) => readAccountUser(db))).toEqual({ userId: null, username: "anna" });
    rig.sandbox.setFaults([]);
    await rig.sync({ ...accountOf(rig), mode: "full" });
    expect(rig.read(({ db }) => readAccountUser(db))).toEqual({ userId: "1000", username: "anna" });
  });

  it("the user of a token must be the user of the mirror; otherwise nothing is written", async () => {
    await using rig = await startRig({ users: 2 });
    await rig.sync(accountOf(rig));
    const before = everythingIn(rig);
    await expect(rig.sync(accountOf(rig, 1))).rejects.toMatchObject({
      code: "other-user",
      message: expect.stringMatching(/belongs to béatrice \(user 1001\).*this mirror to anna \(user 1000\)/),
      hint: expect.stringContaining("Nothing was changed"),
    });
    expect(everythingIn(rig)).toEqual(before);
    expect(await rig.sync(accountOf(rig))).toMatchObject({ complete: true, requests: { counted: 0 } });
  });

  it("the user of a new token is requested whole: with the same ETag for all users, not modified would say nothing", async () => {
    await using rig = await startRig({ users: 2 });
    const requestsOfUser = () =>
      rig.sandbox.log().filter(({ url }) => /\/me\/?$/.test(new URL(url, rig.sandbox.url).pathname));
    for (const [user, conditional] of [
      [0, false],
      [0, true],
      [1, false],
    ] as const) {
      await rig.sync(accountOf(rig, user)).catch(() => {});
      expect(requestsOfUser().at(-1)).toMatchObject({ conditional });
    }
  });

  it("nothing is written with a new token whose user cannot be read", async () => {
    await using rig = await startRig({ users: 2 });
    await rig.sync(accountOf(rig));
    const before = everythingIn(rig);
    rig.sandbox.setFaults([{ kind: "me", fault: "status", status: 503, times: "always" }]);
    await expect(rig.sync(accountOf(rig, 1))).rejects.toMatchObject({ code: "no-user" });
    expect(everythingIn(rig)).toEqual(before);
    // The token that was used before continues without it.
    expect(await rig.sync(accountOf(rig))).toMatchObject({ resources: { failed: 1 } });
  });

  it("the user of a token must be the expected user of a new mirror", async () => {
    await using rig = await startRig({ users: 2 });
    const anna = { userId: "1000", username: "anna" };
    await expect(rig.sync({ ...accountOf(rig, 1), user: anna })).rejects.toMatchObject({
      code: "other-user",
    });
    expect(existsSync(rig.file)).toBe(false);
    expect(await rig.sync({ ...accountOf(rig), user: anna })).toMatchObject({ complete: true });
  });

  it("the user of a token may have another name, but not another id", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    rig.sandbox.setFaults([
      { kind: "me", fault: "set", pointer: "/body/username", value: "Anna K.", times: "always" },
    ]);
    expect(await rig.sync(accountOf(rig))).toMatchObject({ complete: true, resources: { changed: 1 } });
    rig.sandbox.setFaults([
      { kind: "me", fault: "set", pointer: "/body/user_id", value: 7, times: "always" },
    ]);
    await expect(rig.sync(accountOf(rig))).rejects.toMatchObject({ code: "other-user" });
  });

  it("the user of a token must be identified before anything else is requested", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    const before = rig.read(canonicalDump);
    rig.sandbox.clearLog();
    rig.sandbox.setFaults([{ kind: "me", fault: "status", status: 503, times: "always" }]);
    expect(await rig.sync(accountOf(rig))).toMatchObject({ upToDate: false, resources: { failed: 1 } });
    expect(rig.sandbox.log().filter(({ url }) => url.includes("bras"))).toEqual([]);
    expect(rig.read(canonicalDump)).toEqual(before);
  });

  it("the user of a token is not deleted by a 404", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    const before = everythingIn(rig);
    rig.sandbox.setFaults([{ kind: "me", fault: "status", status: 404, times: "always" }]);
    await expect(rig.sync(accountOf(rig))).rejects.toMatchObject({ code: "no-user" });
    expect(everythingIn(rig)).toEqual(before);
  });
});

describe("missing scopes", () => {
  const user = "anna";
  const tombstones = (rig: Rig) =>
    rig.read(({ db }) => db.prepare("select count(*) from _resource where state = 'gone'").pluck().get());

  it("a scope that the token lacks is reported without an error, and its held resources stay", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    rig.sandbox.editUser(user, { scopes: ["identity", "measurements"] });
    rig.sandbox.clearLog();
    const report = await rig.sync(accountOf(rig));
    expect(report).toMatchObject({ complete: true, stopped: null, resources: { failed: 0, gone: 0 } });
    expect(report.notGranted).toEqual(["email", "bras"]);
    expect(report.withdrawn).toEqual(["email", "bras"]);
    expect((await rig.sync(accountOf(rig))).withdrawn).toEqual(["bras"]);
    expect(rig.sandbox.log().filter(({ status }) => status === 403)).toEqual([]);
    expect(kindsIn(rig)).toMatchObject({ bra: 30, bras: 1 });
    expect(tombstones(rig)).toBe(0);
    rig.sandbox.editUser(user, { scopes: ["identity", "email", "bras", "measurements"] });
    const again = await rig.sync(accountOf(rig));
    expect(again).toMatchObject({ notGranted: [], withdrawn: [] });
    expect(again.requests.counted).toBe(1);
  });

  it.each(["null-links", "missing-links"] as const)(
    "the missing scope may be the profile: %s",
    async (fault) => {
      await using rig = await startRig();
      await rig.sync(accountOf(rig));
      rig.sandbox.setFaults([{ kind: "root", fault, link: "me", times: "always" }]);
      rig.sandbox.clearLog();
      const report = await rig.sync(accountOf(rig));
      expect(report).toMatchObject({ complete: true, resources: { failed: 0, gone: 0 } });
      expect(report.notGranted).toEqual(["profile", "email", "bras", "measurements"]);
      expect(report.withdrawn).toEqual(["profile", "bras", "measurements"]);
      expect(rig.sandbox.log().every(({ url }) => url === rig.sandbox.url)).toBe(true);
      expect(tombstones(rig)).toBe(0);
      expect(kindsIn(rig)).toMatchObject({ me: 1, bra: 30 });
    },
  );

  it("a scope that the token lacks is distinguished from a rejected token and from a spent allowance", async () => {
    await using rig = await startRig({ allowance: 1000 });
    await rig.sync(accountOf(rig));
    const before = rig.read(canonicalDump);
    rig.sandbox.setFaults([{ kind: "bras", fault: "allowance-spent", times: "always" }]);
    expect(await rig.sync(accountOf(rig))).toMatchObject({
      stopped: "allowance",
      resumeAt: expect.any(String),
    });
    rig.sandbox.setFaults([{ kind: "bra", fault: "not-authenticated", times: "always" }]);
    rig.sandbox.moveClock({ advanceSeconds: 86_400 });
    await expect(rig.sync(accountOf(rig))).rejects.toMatchObject({ code: "not-authenticated" });
    expect(rig.read(canonicalDump)).toEqual(before);
  });
});

describe("failing lists", () => {
  it.each([
    ["a 400", { fault: "status", status: 400 }],
    ["a page of a login", { fault: "login-page" }],
  ] as const)("a list of the user's that fails with %s is requested once in a run", async (_form, fault) => {
    await using rig = await startRig({ faults: [{ kind: "bras", times: "always", ...fault }] });
    for (let run = 0; run < 2; run++) {
      rig.sandbox.clearLog();
      const { resources, complete } = await rig.sync(accountOf(rig));
      expect(urlsOf(rig.sandbox.log()).filter((url) => url.endsWith("/me/bras/"))).toHaveLength(1);
      expect({ complete, ...resources }).toMatchObject({ complete: false, failed: 1, pending: 0 });
    }
    rig.sandbox.setFaults([]);
    expect(await rig.sync(accountOf(rig))).toMatchObject({ complete: true, resources: { failed: 0 } });
  });
});

describe("revoked tokens", () => {
  it("a revoked token ends the run before it begins, and the mirror stays unchanged", async () => {
    await using rig = await startRig();
    await rig.sync(accountOf(rig));
    const before = everythingIn(rig);
    rig.sandbox.editUser("anna", { isRevoked: true });
    await expect(rig.sync(accountOf(rig))).rejects.toMatchObject({
      code: "not-authenticated",
      hint: expect.stringContaining("mirrored data stays"),
    });
    expect(everythingIn(rig)).toEqual(before);
  });

  it("a revoked token ends a run at the first refusal, with everything fetched before", async () => {
    await using rig = await startRig();
    const refused = { kind: "bra", from: 5, fault: "not-authenticated", times: "always" } as const;
    rig.sandbox.setFaults([refused]);
    await expect(rig.sync({ ...accountOf(rig), concurrency: 1 })).rejects.toMatchObject({
      code: "not-authenticated",
    });
    expect(rig.sandbox.log().filter(({ status }) => status === 401)).toHaveLength(1);
    expect(kindsIn(rig)).toMatchObject({ me: 1, bras: 1, bra: 4 });
    expect(rig.read(({ db }) => db.prepare("select stopped from _run order by id desc").pluck().get())).toBe(
      "error",
    );
  });

  it("a revoked token leaves no new mirror", async () => {
    await using rig = await startRig();
    rig.sandbox.editUser("anna", { isRevoked: true });
    await expect(rig.sync(accountOf(rig))).rejects.toMatchObject({ code: "not-authenticated" });
    expect(existsSync(rig.file)).toBe(false);
  });
});
