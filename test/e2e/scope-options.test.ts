import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SyncPlan, SyncReport } from "../../src/index.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";
import { json, output } from "./support/output.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
const plan = (...flags: readonly string[]) =>
  json<SyncPlan>("plan", "--data-dir", fixture.newPath(), "--mirror", fixture.mirror, ...flags);
const total = ({ due }: SyncPlan, key: "fetch" | "check" | "freeChecks") =>
  due.reduce((sum, count) => sum + count[key], 0);

describe("scope", () => {
  it("a complete mirror has nothing to fetch, and every check is free", async () => {
    const plain = await plan();
    const held = total(plain, "check");
    expect(held).toBeGreaterThan(50);
    expect({ fetch: total(plain, "fetch"), free: total(plain, "freeChecks") }).toEqual({
      fetch: 0,
      free: held,
    });
    expect(plain.forecast?.depths.map(({ remainingRequests }) => remainingRequests)).toEqual([0, 0, 0]);
    const text = await output("plan", "--data-dir", fixture.newPath(), "--mirror", fixture.mirror);
    expect(text).toContain("Checking everything takes 1 day");
    expect(text).not.toMatch(/ime until|Share of all/);
  });

  it("--mode verify checks everything for free, and --mode full fetches everything again", async () => {
    const [plain, verify, full] = await Promise.all([
      plan(),
      plan("--mode", "verify"),
      plan("--mode", "full"),
    ]);
    expect(total(verify, "check")).toBe(total(plain, "check"));
    expect(total(verify, "freeChecks")).toBe(total(plain, "check"));
    expect(new Set(verify.next.map(({ reason }) => reason))).toEqual(new Set(["verify"]));
    expect(total(full, "check")).toBe(total(plain, "check"));
    expect(total(full, "freeChecks")).toBe(0);
    expect(new Set(full.next.map(({ reason }) => reason))).toEqual(new Set(["full"]));
  });

  it("--skip-fresher-than skips recent checks, and --max-free-checks limits free ones", async () => {
    const [young, few] = await Promise.all([
      plan("--skip-fresher-than", "90m"),
      plan("--max-free-checks", "7"),
    ]);
    expect({ due: young.due, next: young.next }).toEqual({ due: [], next: [] });
    expect(total(few, "check")).toBe(7);
    expect(few.forecast?.maxStaleness.attainableDays).toBeGreaterThan(10);
  });

  it("--max-staleness is the target of the plan", async () => {
    const [owed, rested] = await Promise.all([plan("--max-staleness", "0d"), plan("--max-staleness", "1w")]);
    expect([owed, rested].map(({ forecast }) => forecast?.maxStaleness.days)).toEqual([0, 7]);
  });

  it("a sync obeys the same options", async () => {
    const settings = ["--data-dir", fixture.newPath(), "--base-url", fixture.sandbox.url];
    const all = (await json<SyncReport>("sync", ...settings)).resources.new;
    const requests = async (...flags: readonly string[]) => {
      const report = await json<SyncReport>("sync", ...settings, ...flags);
      return { checked: report.requests.notModified, fetched: report.resources.unchanged };
    };
    expect((await requests("--skip-fresher-than", "1h")).checked).toBe(0);
    expect((await requests("--max-free-checks", "5")).checked).toBe(5);
    expect((await requests("--mode", "verify")).checked).toBe(all);
    expect(await requests("--mode", "full")).toMatchObject({ checked: 0, fetched: all });
    expect((await requests("--order", "depth", "--max-staleness", "2w")).checked).toBe(all);
  });
});
