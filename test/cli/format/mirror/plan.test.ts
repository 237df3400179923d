import { describe, expect, it } from "vitest";
import { formatPlan } from "../../../../src/cli/format/mirror/plan.ts";
import { describeAllowance } from "../../../../src/sync/describe-plan.ts";
import type { SyncPlan } from "../../../../src/sync/plan/preview.ts";
import type { Reason } from "../../../../src/sync/plan/request.ts";

const now = Date.parse("2026-01-30T20:00:00Z");
const allowance = { limit: 300, remaining: 212, resetAt: "2026-01-31T06:00:00.000Z", windowSeconds: 86_400 };
const plan: SyncPlan = {
  area: "catalogue",
  mirror: "/mirrors/catalogue.sqlite",
  due: [
    { kind: "brand", fetch: 100, check: 90, freeChecks: 80 },
    { kind: "model", fetch: 200, check: 0, freeChecks: 0 },
  ],
  next: [{ url: "https://api.example.org/x/", key: null, kind: "model", reason: "new" }],
  allowance,
  spendable: 212,
  postponed: [],
  forecast: null,
  accountForecast: null,
};

describe("text", () => {
  it("a plan as text counts fetches, free checks and counted checks", () => {
    expect(formatPlan(plan, "value", now)).toMatch(/\nbrand +100 +80 +10\nmodel +200 +0 +0\n/);
  });

  it.each([
    [212, "310 counted requests known to be due; the remaining allowance covers the first 212\n"],
    [310, "310 counted requests known to be due; the remaining allowance covers all of them\n"],
    [0, "310 counted requests known to be due; the allowance is spent until it is renewed\n"],
    [null, "310 counted requests known to be due\n"],
  ])("a plan as text states how many requests a remaining allowance of %s covers", (remaining, expected) => {
    const text = formatPlan(
      { ...plan, spendable: remaining, allowance: { ...allowance, remaining } },
      "value",
      now,
    );
    expect(text).toContain(`\nToday      ${expected}`);
  });

  it.each([
    [100, "310 counted requests known to be due; this run's budget covers the first 100\n"],
    [0, "310 counted requests known to be due; --budget and --reserve allow none of them\n"],
  ])("a plan as text states how many requests a budget of %d covers", (spendable, expected) => {
    expect(formatPlan({ ...plan, spendable }, "value", now)).toContain(`\nToday      ${expected}`);
  });

  it("the text of an account's plan announces more requests, and then the days until it is complete", () => {
    const ofAccount = {
      ...plan,
      area: "account" as const,
      spendable: 0,
      allowance: { ...allowance, limit: 10 },
    };
    const forecast = { isWhole: false, remainingRequests: 310, requestsPerDay: 10, days: null };
    const early = formatPlan({ ...ofAccount, accountForecast: forecast }, "value", now);
    expect(early).toContain("310 counted requests known to be due; more are found while syncing\n");
    expect(early).not.toMatch(/covers|days/);
    const text = (days: number | null) =>
      formatPlan({ ...ofAccount, accountForecast: { ...forecast, isWhole: true, days } }, "value", now);
    expect(text(31)).toMatch(/\nTime until the mirror is complete: about 31 days at 10 requests a day\.\n$/);
    for (const days of [0, null]) expect(text(days)).not.toContain("Time until the mirror is complete");
    for (const known of [early, text(31)]) expect(known).not.toContain("size of the catalogue");
  });

  it("a plan as text names a resource by its key, or else by its URL", () => {
    const next = [
      { url: "u1", key: "maker/one/65F", kind: "size", reason: "new" },
      { url: "u2", key: null, kind: "models", reason: "listing" },
    ] as const;
    const text = formatPlan({ ...plan, next }, "value", now);
    expect(text).toMatch(/\nsize .* {2}maker\/one\/65F\nlist of models .* {2}u2\n/);
    expect(text).not.toContain("u1");
  });

  it("a plan as text has a distinct text for every reason and order", () => {
    const reasons = ["root", "again", "listing", "suspect", "stale", "expected", "verify", "full"] as const;
    const why = (reason: Reason, order: "value" | "breadth" | "depth") =>
      formatPlan({ ...plan, next: [{ url: "u", key: null, kind: "model", reason }] }, order, now).match(
        /\nmodel {2}(.*?) {2}u\n/,
      )?.[1];
    const expected = [
      ...reasons.map((reason) => why(reason, "value")),
      ...(["value", "breadth", "depth"] as const).map((order) => why("new", order)),
    ];
    expect(expected).not.toContain(undefined);
    expect(new Set(expected).size).toBe(reasons.length + 3);
  });

  it("a plan as text states that nothing is due, and what is unknown before the first sync", () => {
    const text = formatPlan({ ...plan, due: [], next: [], allowance: null }, "value", now);
    expect(text).toBe(
      "Mirror     /mirrors/catalogue.sqlite\nAllowance  unknown until the next sync\n\nNothing is due.\n" +
        "\nThe size of the catalogue and the time it takes are known after the first sync.\n",
    );
  });
});

it.each([
  [allowance, "212 left of 300 a day, renewed at 2026-01-31 06:00 UTC (in 10 h)"],
  [{ ...allowance, resetAt: null }, "212 left of 300 a day"],
  [{ ...allowance, resetAt: null, windowSeconds: 20 }, "212 left of 300 in 20 seconds"],
  [{ ...allowance, resetAt: null, windowSeconds: 3600 }, "212 left of 300 an hour"],
  [{ ...allowance, resetAt: null, windowSeconds: 21_600 }, "212 left of 300 in 6 hours"],
  [{ ...allowance, resetAt: null, windowSeconds: null }, "212 left of 300 per window"],
  [{ limit: null, remaining: 7, resetAt: null, windowSeconds: null }, "7 left"],
  [{ limit: null, remaining: null, resetAt: null, windowSeconds: null }, "not reported by the service"],
  [null, "unknown until the next sync"],
])("the allowance %j is shown as %s", (known, expected) => {
  expect(describeAllowance(known, now)).toBe(expected);
});
