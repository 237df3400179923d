import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SyncPlan, SyncReport } from "../../src/index.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";
import { listAll } from "./support/fixture.ts";
import { json, output } from "./support/output.ts";

describe("before the first sync", () => {
  it("the plan consists of the root, and nothing is sent or created", async () => {
    await using sandbox = await startSandbox();
    await using folder = await temporaryFolder();
    const settings = ["--data-dir", join(folder.path, "data"), "--base-url", sandbox.url];
    expect(await output("plan", ...settings)).toMatch(
      /^Mirror .*\nAllowance {2}unknown until the next sync\n[\s\S]*\nroot +1 +0 +0\n[\s\S]* are known after the first sync\.\n$/,
    );
    expect(await json("plan", ...settings)).toEqual({
      area: "catalogue",
      mirror: expect.stringMatching(/catalogue\.sqlite$/),
      due: [{ kind: "root", fetch: 1, check: 0, freeChecks: 0 }],
      next: [{ url: sandbox.url, key: null, kind: "root", reason: "root" }],
      allowance: null,
      spendable: null,
      postponed: [],
      forecast: null,
      accountForecast: null,
    });
    expect(sandbox.log()).toEqual([]);
    expect(await listAll(folder.path)).toEqual([]);
  });
});

describe("in the middle of the first crawl", () => {
  const day = 86_400;
  let sandbox: Sandbox;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let settings: readonly string[];
  let lastLine: string;
  beforeAll(async () => {
    sandbox = await startSandbox({ brands: 12, models: 60, sizes: 300, allowance: 30 });
    folder = await temporaryFolder();
    settings = ["--data-dir", folder.path, "--base-url", sandbox.url];
    lastLine = (await output("sync", ...settings)).trimEnd().split("\n").at(-1) ?? "";
  });
  afterAll(async () => {
    await sandbox.close();
    await folder[Symbol.asyncDispose]();
  });

  it("the sync ends with the next time to sync and a forecast", () => {
    expect(lastLine).toMatch(
      /^The allowance is spent; sync again at \d{4}-\d\d-\d\d \d\d:\d\d UTC \(in 24 h\)\. The mirror holds the models of about \d+ % of all users' bras, \d+ % in 1 day, 100 % in 7 days; all models in \d days?, all sizes in \d+ days, at 30 requests a day\.$/,
    );
  });

  it("the next sync of the same day sends nothing, also for another mirror with the same ledger", async () => {
    const sent = sandbox.log().length;
    const otherMirror = join(folder.path, "elsewhere", "other.sqlite");
    for (const more of [[], ["--mirror", otherMirror]]) {
      const { stopped, requests, resumeAt } = await json<SyncReport>("sync", ...settings, ...more);
      expect({ stopped, sent: requests.sent }).toEqual({ stopped: "allowance", sent: 0 });
      expect(Date.parse(resumeAt ?? "")).toBeGreaterThan(Date.now());
    }
    expect(sandbox.log()).toHaveLength(sent);
    expect((await listAll(folder.path)).filter((path) => path.endsWith("ledger.sqlite"))).toEqual([
      "ledger.sqlite",
    ]);
  });

  it("the plan shows due counts, next requests with reasons, and days", async () => {
    const text = await output("plan", ...settings);
    expect(text).toMatch(/\nAllowance {2}0 left of 30 a day, renewed at .* \(in 24 h\)\n/);
    expect(text).toMatch(
      /\nToday {6}\d+ counted requests known to be due; the allowance is spent until it is renewed\n/,
    );
    expect(text).toMatch(/\nmodel +\d+ +\d+ +0\n/);
    expect(text).toMatch(/\nmodel {2}new, most valuable first {2}http/);
    expect(text).toMatch(/\nup to +requests +at 30 a day +with app key \(300\) +without \(30\)\n/);
    expect(text).toMatch(/\nnow +\d+ % +█+\n1 day[\s\S]*\n60 days {2}100 % {2}█{40}\n$/);
    // The output in a pipe is the same as on a terminal without colours.
    expect(text).not.toContain("\u001b");
  });

  it("the plan says what the sync of tomorrow costs", async () => {
    expect(await output("plan", ...settings)).toMatch(
      /\nToday {6}.*\nTomorrow {3}about 30 counted requests: all that the allowance grants in a day\n/,
    );
  });

  it("the plan equals a dry run", async () => {
    for (const format of [[], ["--json"]]) {
      const plan = await output("plan", ...settings, ...format);
      expect(await output("sync", "--dry-run", ...settings, ...format)).toBe(plan);
    }
  });

  it("status shows the same allowance and forecast, also without a base URL", async () => {
    const dataDir = settings.slice(0, 2);
    const { allowance, forecast } = await json<SyncPlan>("plan", ...dataDir);
    expect(await json("status", ...dataDir)).toMatchObject({ allowance, forecast });
    const text = await output("status", ...dataDir);
    expect(text).toMatch(/\nAllowance {2}0 left of 30 a day, renewed at /);
    expect(text).toMatch(
      /\nForecast {3}The mirror holds the models of about \d+ % of all users' bras, .* at 30 requests a day\.\n/,
    );
    expect(text).toMatch(/\nkind +known +held +due +failed +gone +median age +90th percentile +oldest\n/);
  });

  it("the run log leaves out runs that sent nothing, and says so", async () => {
    const dataDir = settings.slice(0, 2);
    const listed = await json<{ id: number }[]>("runs", "--quiet", ...dataDir);
    const all = await json<{ id: number }[]>("runs", "list", "--all", ...dataDir);
    expect(listed.map(({ id }) => id)).toEqual([1]);
    expect(all.length).toBeGreaterThan(1);
    const { stderr } = await callArmoire(["runs", ...dataDir]);
    expect(stderr).toMatch(
      /^1 run that sent no request is not shown; `armoire runs list --all` lists all\.\n$/,
    );
  });

  it("each order and each depth has a different plan", async () => {
    const nextOf = async (...flags: readonly string[]) =>
      (await json<SyncPlan>("plan", ...settings, ...flags)).next.map(({ url }) => url);
    const plans = await Promise.all([
      nextOf("--order", "value"),
      nextOf("--order", "breadth"),
      nextOf("--order", "depth"),
    ]);
    expect(plans[0]).not.toEqual(plans[2]);
    expect(await nextOf()).toEqual(plans[0]);
    const { due } = await json<SyncPlan>("plan", ...settings, "--depth", "brands");
    expect(due.map(({ kind }) => kind).filter((kind) => !["root", "brands", "brand"].includes(kind))).toEqual(
      [],
    );
  });

  it("a lost ledger does not change the plan, and the next day's sync follows it", async () => {
    const ledger = join(folder.path, "ledger.sqlite");
    for (const suffix of ["", "-wal", "-shm"]) await rm(ledger + suffix, { force: true });
    sandbox.moveClock({ advanceSeconds: day + 1 });
    const { next, allowance } = await json<SyncPlan>("plan", ...settings);
    expect(allowance).toBeNull();
    sandbox.clearLog();
    const oneAtATime = ["--concurrency", "1"];
    const { stopped } = await json<SyncReport>("sync", ...settings, ...oneAtATime, "--budget", "3");
    expect(stopped).toBe("budget");
    expect(sandbox.log().map(({ url }) => url)).toEqual(next.slice(0, 3).map(({ url }) => url));
    const reserved = await json<SyncReport>("sync", ...settings, ...oneAtATime, "--reserve", "20");
    expect(reserved).toMatchObject({
      stopped: "allowance",
      requests: { counted: 7 },
      allowance: { remaining: 20 },
    });
    const printed = await output("sync", ...settings, "--reserve", "20");
    expect(printed).toMatch(/\nThe allowance is spent except for a reserve of 20; sync again at /);
  });
});
