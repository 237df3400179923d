/** Scopes that show only when the service refuses the list of the user's bras or measurements. */
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import type { Account } from "../../../src/accounts/account.ts";
import { readOverview } from "../../../src/accounts/overview.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { readCoverage } from "../../../src/mirror/runs/coverage.ts";
import { readStatus } from "../../../src/query/status/status.ts";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { variants } from "../../../src/sandbox/variants.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { someOf } from "../../support/thorough.ts";
import { type Rig, startRig } from "../support/rig.ts";

const allScopes = ["identity", "email", "bras", "measurements"] as const;
const withoutBras = ["identity", "email", "measurements"] as const;
const day = 86_400;

const account = ({ sandbox }: Rig, more: Partial<SyncOptions> = {}): Partial<SyncOptions> => ({
  area: "account",
  credential: bearerToken(sandbox.users[0]?.token ?? ""),
  ...more,
});

async function startWithout(scopes: readonly (typeof allScopes)[number][], options: SandboxOptions) {
  const rig = await startRig(options);
  rig.sandbox.editUser("anna", { scopes: [...scopes] });
  return rig;
}

const countOf = (rig: Rig, kind: string) =>
  rig.read(({ db }) =>
    db.prepare("select count(*) from _resource where state = 'held' and kind = ?").pluck().get(kind),
  );

const brasIn = (rig: Rig) => rig.read(({ db }) => db.prepare("select * from bra order by href").raw().all());

const requestsFor = ({ sandbox }: Rig, path: string) =>
  sandbox.log().filter(({ url }) => url === `${sandbox.url}${path}`).length;

const forms = variants.missingScope.flatMap((missingScope) => [
  { missingScope, unauthorizedStatus: 401 },
  ...(missingScope === "not-authenticated" ? [{ missingScope, unauthorizedStatus: 200 }] : []),
]);

describe.each(someOf(forms, 3))("a scope that shows as $missingScope ($unauthorizedStatus)", (form) => {
  it("a scope that was never granted is no failure, and the rest is fetched", async () => {
    await using rig = await startWithout(withoutBras, form);
    const report = await rig.sync(account(rig));
    expect(report).toMatchObject({
      complete: true,
      stopped: null,
      notGranted: ["bras"],
      withdrawn: [],
      resources: { failed: 0, gone: 0, pending: 0 },
    });
    expect(countOf(rig, "measurement")).toBeGreaterThan(0);
    const { failures, kinds: statuses } = rig.read(readStatus);
    expect(failures).toEqual([]);
    expect(statuses.filter(({ due, failed, gone }) => due + failed + gone > 0)).toEqual([]);
    expect(rig.read((mirror) => readCoverage(mirror)).complete).toBe(true);
    expect(rig.read((mirror) => checkMirror(mirror, kinds).problems)).toEqual([]);
  });

  it("a scope that is withdrawn leaves everything as it was, and is asked for once a day", async () => {
    await using rig = await startRig(form);
    await rig.sync(account(rig));
    const before = brasIn(rig);
    rig.sandbox.editUser("anna", { scopes: [...withoutBras] });
    rig.sandbox.clearLog();
    const report = await rig.sync(account(rig));
    expect(report).toMatchObject({ complete: true, notGranted: ["bras"], withdrawn: ["bras"] });
    expect(report.resources).toMatchObject({ failed: 0, gone: 0, awaitingApproval: 0, pending: 0 });
    expect(brasIn(rig)).toEqual(before);
    const asked = requestsFor(rig, "me/bras/");
    expect(asked).toBe(form.missingScope === "null-link" ? 0 : 1);
    for (const days of [1, 2, 3]) {
      const report = { complete: true, notGranted: ["bras"], withdrawn: ["bras"] };
      expect(await rig.sync(account(rig))).toMatchObject(report);
      expect(requestsFor(rig, "me/bras/")).toBe(days * asked);
      // As daily syncs by cron, of which one may begin a little earlier.
      rig.sandbox.moveClock({ advanceSeconds: day - 60 });
    }
    rig.sandbox.editUser("anna", { scopes: [...allScopes] });
    expect(await rig.sync(account(rig))).toMatchObject({ complete: true, notGranted: [], withdrawn: [] });
  });

  it("a scope that was never granted is asked for once a month", async () => {
    await using rig = await startWithout(withoutBras, form);
    await rig.sync(account(rig));
    const asked = requestsFor(rig, "me/bras/");
    expect(asked).toBe(form.missingScope === "null-link" ? 0 : 1);
    rig.sandbox.moveClock({ advanceSeconds: 29 * day });
    await rig.sync(account(rig));
    expect(requestsFor(rig, "me/bras/")).toBe(asked);
    rig.sandbox.moveClock({ advanceSeconds: 2 * day });
    await rig.sync(account(rig));
    expect(requestsFor(rig, "me/bras/")).toBe(2 * asked);
  });

  it("a scope that is granted later is fetched", async () => {
    await using rig = await startWithout(["identity"], form);
    expect(await rig.sync(account(rig))).toMatchObject({
      complete: true,
      notGranted: ["email", "bras", "measurements"],
    });
    rig.sandbox.editUser("anna", { scopes: [...allScopes] });
    rig.sandbox.moveClock({ advanceSeconds: 31 * day });
    expect(await rig.sync(account(rig))).toMatchObject({ complete: true, notGranted: [] });
    expect(countOf(rig, "bra")).toBe(30);
    expect(countOf(rig, "measurement")).toBeGreaterThan(0);
  });
});

describe("a refused scope", () => {
  const form = { missingScope: "401" } as const;

  it("a refused scope is asked for at once with a new token, and in a run that checks everything", async () => {
    await using rig = await startWithout(withoutBras, form);
    await rig.sync(account(rig));
    rig.sandbox.editUser("anna", { scopes: [...allScopes] });
    rig.sandbox.moveClock({ advanceSeconds: 60 });
    const earlier = new Date(rig.clock.now() - day * 1000).toISOString();
    await rig.sync(account(rig, { tokenAt: earlier }));
    expect(countOf(rig, "bra")).toBe(0);
    await rig.sync(account(rig, { tokenAt: new Date(rig.clock.now() - 1000).toISOString() }));
    expect(countOf(rig, "bra")).toBe(30);
    rig.sandbox.editUser("anna", { scopes: [...withoutBras] });
    rig.sandbox.clearLog();
    await rig.sync(account(rig));
    await rig.sync(account(rig, { mode: "verify" }));
    expect(requestsFor(rig, "me/bras/")).toBe(2);
  });

  it("a refusal of something other than a list still ends the run", async () => {
    await using rig = await startRig(form);
    rig.sandbox.setFaults([{ kind: "bra", from: 3, fault: "not-authenticated", times: "always" }]);
    await expect(rig.sync(account(rig, { concurrency: 1 }))).rejects.toMatchObject({
      code: "not-authenticated",
    });
  });

  it("a refused scope is not granted in the overview, a granted one only after its first response", async () => {
    await using rig = await startWithout(withoutBras, { ...form, allowance: 2 });
    const stored = {
      folder: dirname(rig.file),
      mirrorFile: rig.file,
      tokenAt: new Date(rig.clock.now() - 1000).toISOString(),
      scopes: ["profile"],
      unknownScopes: ["bras", "measurements"],
    } as unknown as Account;
    await rig.sync(account(rig));
    expect(readOverview(stored)).toMatchObject({
      scopes: ["profile", "email"],
      unknownScopes: ["measurements"],
    });
    rig.sandbox.moveClock({ advanceSeconds: day + 1 });
    await rig.sync(account(rig));
    expect(readOverview(stored)).toMatchObject({
      scopes: ["profile", "email", "measurements"],
      unknownScopes: [],
    });
    const later = { ...stored, tokenAt: new Date(rig.clock.now() + 1000).toISOString() };
    expect(readOverview(later)).toMatchObject({
      scopes: ["profile"],
      unknownScopes: ["bras", "measurements"],
    });
  });
});
