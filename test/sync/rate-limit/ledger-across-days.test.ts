/** What the ledger remembers from one run to the next, and from one day to the next. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { readLedger } from "../../../src/sync/rate-limit/known-allowance.ts";
import { fetchRateLimit, readRateLimitBody } from "../../../src/sync/rate-limit/rate-limit-resource.ts";
import { openRateLimitedClient } from "../../../src/sync/run/rate-limited-client.ts";
import { makeLedgerFolder } from "../support/ledger-folder.ts";
import { type Rig, startRig } from "../support/rig.ts";

/** Of 17 resources. */
const tiny = { brands: 2, models: 3, sizes: 5, pageSize: 2 };
const small = { brands: 6, models: 40, sizes: 60, pageSize: 3 };
const withoutRateLimit = { kind: "rate_limit", times: "always", fault: "status", status: 404 } as const;
const silent = { allowanceHeaders: "none", faults: [withoutRateLimit] } as const;
const day = { advanceSeconds: 86_401 };

function ledgerOf(rig: Rig) {
  const principal = { origin: new URL(rig.sandbox.url).origin, credential: null };
  return readLedger(join(dirname(rig.file), "ledger.sqlite"), principal, rig.sandbox.now().getTime());
}

describe("unspent allowance", () => {
  it("a large allowance is reported without unused leases, during and after the run", async () => {
    await using rig = await startRig({ ...tiny, allowance: 9_000 });
    const reported: (number | null)[] = [];
    const report = await rig.sync({ onProgress: (read) => reported.push(read().allowance.remaining) });
    const remaining = 9_000 - report.requests.counted;
    expect(report).toMatchObject({ complete: true, allowance: { limit: 9_000, remaining } });
    expect(Math.min(...reported.map(Number))).toBeGreaterThanOrEqual(remaining);
    expect(ledgerOf(rig)).toMatchObject({ limit: 9_000, remaining });
    // Checks are free.
    const checked = await rig.sync({ mode: "verify" });
    expect(checked.requests).toMatchObject({ counted: 0, notModified: checked.requests.sent });
    expect(checked.allowance).toMatchObject({ limit: 9_000, remaining });
  });
});

describe("exhausted allowance", () => {
  it("a spent allowance ends the next run at once, without a request, with the time to resume", async () => {
    await using rig = await startRig({ ...tiny, allowance: 5 });
    const first = await rig.sync();
    expect(first).toMatchObject({ stopped: "allowance", allowance: { limit: 5, remaining: 0 } });
    rig.sandbox.clearLog();
    const second = await rig.sync();
    expect(second).toMatchObject({ stopped: "allowance", complete: false, requests: { sent: 0 } });
    expect(second.resumeAt).toBe(first.resumeAt);
    expect(rig.sandbox.log()).toEqual([]);
    rig.sandbox.moveClock({ now: second.resumeAt ?? "" });
    expect(await rig.sync()).toMatchObject({ requests: { counted: 5 } });
  });

  it.each([1, 3])("a spent allowance keeps a reserve of %d", async (reserve) => {
    await using rig = await startRig({ ...tiny, allowance: 6 });
    expect(await rig.sync({ reserve })).toMatchObject({
      stopped: "allowance",
      allowance: { remaining: reserve },
    });
    expect((await rig.sync({ reserve })).requests.sent).toBe(0);
    expect(await rig.sync()).toMatchObject({ requests: { counted: reserve } });
  });

  it("a limit within the reserve is asked for again after a day, by requesting the root", async () => {
    await using rig = await startRig({ ...small, ...silent, allowance: 5 });
    await rig.sync();
    rig.sandbox.moveClock(day);
    rig.sandbox.clearLog();
    // The root is requested alone, since its response may carry a count; it is not counted.
    await rig.sync({ reserve: 5 });
    const refused = await rig.sync({ reserve: 5 });
    expect(refused).toMatchObject({ stopped: "allowance", requests: { sent: 0 }, allowance: { limit: 5 } });
    expect(rig.sandbox.log().map(({ url, counted }) => ({ url, counted }))).toEqual([
      { url: rig.sandbox.url, counted: false },
    ]);
    const wait = new Date(refused.resumeAt ?? "").getTime() - rig.sandbox.now().getTime();
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(day.advanceSeconds * 1000);
    rig.sandbox.moveClock({ now: refused.resumeAt ?? "" });
    await rig.sync({ reserve: 5 });
    expect(rig.sandbox.log().filter(({ counted }) => counted).length).toBe(5);
    expect(rig.sandbox.log().filter(({ status }) => status === 403).length).toBe(1);
  });

  it.each([
    { reportedBy: "the rate_limit resource", refusals: 0, faults: [] },
    {
      reportedBy: "nothing",
      refusals: 1,
      faults: [{ kind: "rate_limit", times: "always", fault: "status", status: 404 }],
    },
  ] as const)(
    "a spent allowance reported by $reportedBy is spent exactly, with $refusals refusals a day",
    async ({ faults, refusals }) => {
      await using rig = await startRig({ ...tiny, allowance: 4, allowanceHeaders: "none", faults });
      for (let days = 0; days < 3; days++) {
        rig.sandbox.clearLog();
        const report = await rig.sync({ concurrency: 8 });
        expect(report).toMatchObject({ stopped: "allowance" });
        const log = rig.sandbox.log();
        expect(log.filter(({ counted }) => counted).length).toBe(4);
        expect(log.filter(({ status }) => status === 403).length).toBe(refusals);
        expect(new Date(report.resumeAt ?? "").getTime()).toBeGreaterThan(rig.sandbox.now().getTime());
        rig.sandbox.clearLog();
        await rig.sync();
        expect(rig.sandbox.log()).toEqual([]);
        rig.sandbox.moveClock(day);
      }
      expect(ledgerOf(rig)).toMatchObject({ limit: 4, remaining: 4, isReported: false });
    },
  );

  it("a spent allowance is shared by the mirrors of a ledger", async () => {
    await using rig = await startRig({ ...tiny, allowance: 5 });
    await using folder = await makeLedgerFolder();
    await rig.sync({ ledgerFile: folder.file });
    const otherReport = await rig.sync({ ledgerFile: folder.file, file: `${rig.file}-other` });
    expect(otherReport).toMatchObject({ stopped: "allowance", requests: { sent: 0 } });
    expect(existsSync(join(dirname(rig.file), "ledger.sqlite"))).toBe(false);
  });

  it.each(["epoch", "seconds"] as const)(
    "a spent allowance ends at the reset that the service reports in %s",
    async (allowanceHeaders) => {
      await using rig = await startRig({ ...tiny, allowance: 5, allowanceHeaders, windowSeconds: 3600 });
      const { resumeAt } = await rig.sync();
      const wait = new Date(resumeAt ?? "").getTime() - rig.sandbox.now().getTime();
      expect(wait).toBeGreaterThan(3_590_000);
      expect(wait).toBeLessThanOrEqual(3_601_000);
    },
  );
});

it("a Retry-After of hours also holds for later runs", async () => {
  await using rig = await startRig(tiny);
  rig.sandbox.setFaults([{ times: "always", fault: "status", status: 429, retryAfter: "7200" }]);
  const { resumeAt } = await rig.sync();
  rig.sandbox.setFaults([]);
  rig.sandbox.clearLog();
  expect(await rig.sync()).toMatchObject({ stopped: "allowance", resumeAt, requests: { sent: 0 } });
  rig.sandbox.moveClock({ advanceSeconds: 7100 });
  await rig.sync();
  expect(rig.sandbox.log()).toEqual([]);
  rig.sandbox.moveClock({ advanceSeconds: 101 });
  expect(await rig.sync()).toMatchObject({ complete: true, stopped: null });
});

describe("prices", () => {
  it.each([
    { countNotModified: false, countRoot: false },
    { countNotModified: true, countRoot: true },
  ])("the price of a 304 and of the root is inferred from the remaining count: %o", async (counts) => {
    await using rig = await startRig({ ...tiny, ...counts, allowance: 300 });
    await rig.sync();
    expect(ledgerOf(rig)?.isFree304).toBeNull();
    await rig.sync({ mode: "verify" });
    expect(ledgerOf(rig)?.isFree304).toBe(!counts.countNotModified);
    // A counted root can be distinguished only when it has changed.
    if (!counts.countRoot) expect(ledgerOf(rig)?.isFreeRoot).toBe(true);
  });

  it.each([true, false])(
    "the price of a 304 and of the root is inferred on the second day without any count: 304 counted %s",
    async (countNotModified) => {
      await using rig = await startRig({ ...small, ...silent, countNotModified, allowance: 40 });
      for (let days = 0; days < 3; days++) {
        await rig.sync();
        const log = rig.sandbox.log();
        expect(log.filter(({ counted }) => counted).length).toBe(40);
        expect(log.filter(({ status }) => status === 403).length).toBe(1);
        expect(ledgerOf(rig)?.checkPrice).toBe(
          days === 0 ? "unknown" : countNotModified ? "counted" : "free",
        );
        rig.sandbox.clearLog();
        rig.sandbox.moveClock(day);
      }
    },
  );

  it.each([true, false])(
    "the price of a 304 and of the root is inferred from two bodies of the rate_limit resource: 304 counted %s",
    async (countNotModified) => {
      await using rig = await startRig({
        ...{ ...small, countNotModified, allowance: 40, allowanceHeaders: "none" },
      });
      await rig.sync();
      rig.sandbox.moveClock(day);
      rig.sandbox.clearLog();
      await rig.sync();
      expect(ledgerOf(rig)?.isFree304).toBe(!countNotModified);
      const log = rig.sandbox.log();
      expect(log.filter(({ counted }) => counted).length).toBe(40);
      expect(log.filter(({ status }) => status === 403)).toEqual([]);
      expect(log.filter(({ url }) => url.endsWith("rate-limit/")).length).toBeLessThanOrEqual(3);
    },
  );

  it("the price of a 304 and of the root is assumed to be one while unknown, so that a budget also limits checks", async () => {
    await using rig = await startRig({ ...small, ...silent, countNotModified: true, allowance: 1_000 });
    await rig.sync();
    rig.sandbox.clearLog();
    const { stopped, requests } = await rig.sync({ mode: "verify", budget: 5 });
    expect({ stopped, counted: requests.counted }).toEqual({ stopped: "budget", counted: 5 });
    expect(rig.sandbox.log().filter(({ counted }) => counted).length).toBeLessThanOrEqual(5);
  });

  it("an unknown price does not prevent checks while nothing was refused", async () => {
    await using rig = await startRig({ ...small, ...silent });
    await rig.sync();
    rig.sandbox.advance({ changes: 5 });
    const { complete, resources } = await rig.sync();
    expect(complete).toBe(true);
    expect(resources.changed).toBeGreaterThan(0);
    expect(ledgerOf(rig)).toMatchObject({ checkPrice: "unknown", isFree304: null });
  });

  it("the price of a 304 and of the root is assumed to be zero if responses carry the remaining count", async () => {
    await using rig = await startRig({ ...small, allowance: 200 });
    const { requests } = await rig.sync();
    expect(ledgerOf(rig)).toMatchObject({ checkPrice: "free", isFree304: null });
    expect(requests.counted).toBe(rig.sandbox.log().filter(({ counted }) => counted).length);
  });

  it.each([true, false])(
    "the price of a 304 and of the root is inferred for a root that is requested alone: counted %s",
    async (countRoot) => {
      await using sandbox = await startSandbox({ ...tiny, allowance: 30, countRoot });
      await using folder = await makeLedgerFolder();
      const principal = { origin: new URL(sandbox.url).origin, credential: null };
      const { client, close } = await openClient(folder.file, sandbox.url);
      await client.fetch({ url: new URL("brands/", sandbox.url).href });
      await client.fetch({ url: sandbox.url });
      await close();
      expect(readLedger(folder.file, principal, Date.now())).toMatchObject({ isFreeRoot: !countRoot });
    },
  );
});

describe("rate_limit", () => {
  it("the rate_limit resource supplies the count that headers lack", async () => {
    await using sandbox = await startSandbox({ ...tiny, allowance: 30, allowanceHeaders: "none" });
    await using folder = await makeLedgerFolder();
    const { client, runBudget, close } = await openClient(folder.file, sandbox.url);
    await client.fetch({ url: new URL("brands/", sandbox.url).href });
    expect(runBudget.state).toMatchObject({ remaining: null, isReported: false });
    const url = new URL("rate-limit/", sandbox.url).href;
    await fetchRateLimit(client, { url }, runBudget, Date.now);
    expect(runBudget.state).toMatchObject({ limit: 30, remaining: 29, isReported: true });
    await client.fetch({ url: new URL("brands/", sandbox.url).href });
    expect(runBudget.state.remaining).toBe(28);
    await fetchRateLimit(client, { url }, runBudget, Date.now);
    expect(sandbox.log().length).toBe(3);
    await close();
  });

  it("the rate_limit resource changes nothing if it fails", async () => {
    await using sandbox = await startSandbox({ ...tiny, allowance: 30, allowanceHeaders: "none" });
    await using folder = await makeLedgerFolder();
    const { client, runBudget, close } = await openClient(folder.file, sandbox.url);
    const { href: url } = new URL("brands/", sandbox.url);
    await fetchRateLimit(client, { url }, runBudget, Date.now);
    expect(runBudget.state.isReported).toBe(false);
    await fetchRateLimit(client, { url: "https://elsewhere.example/" }, runBudget, Date.now);
    await close();
  });

  it.each([
    [
      { limit: 30, remaining: 12, reset: 3600 },
      { limit: 30, remaining: 12, resetAt: 1_003_600_000 },
    ],
    [
      { limit: "30", remaining: "12" },
      { limit: 30, remaining: 12, resetAt: null },
    ],
    [{ limit: 30 }, null],
    [{ remaining: -1 }, null],
    [{ remaining: { valueOf: 3 } }, null],
    ["nothing", null],
    [null, null],
  ])("the rate_limit resource may contain %o", (base, reading) => {
    expect(readRateLimitBody({ rel: "resource", body: { base } }, 1_000_000_000)).toEqual(reading);
  });

  it.each([null, [], "text", { body: null }, {}])(
    "the rate_limit resource is ignored if it is %o",
    (value) => {
      expect(readRateLimitBody(value, 0)).toBeNull();
    },
  );
});

function openClient(ledgerFile: string, baseUrl: string) {
  const clock = { now: Date.now, random: Math.random, sleep: async () => {} };
  const options = { credential: null, budget: null, reserve: 0, connections: 1, clock };
  return openRateLimitedClient({ ...options, baseUrl, ledgerFile });
}
