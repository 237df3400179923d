import { describe, expect, it } from "vitest";
import { formatOnlyWarnings, formatReport } from "../../../src/cli/format/report.ts";
import type { SyncReport } from "../../../src/sync/report.ts";

const now = Date.parse("2026-01-30T20:00:00Z");
const mass = { absent: 5, of: 6, kind: "model", collection: "https://api.example.org/m/" };
const report: SyncReport = {
  ...{ run: 7, mirror: "/mirrors/catalogue.sqlite", complete: false, stopped: "allowance", seconds: 1 },
  requests: { sent: 0, counted: 0, notModified: 0, retried: 0, failed: 0 },
  resources: {
    ...{ new: 0, changed: 0, unchanged: 0, gone: 0, pending: 12, notChecked: 0 },
    ...{ failed: 0, skipped: 0, waiting: 0, partial: 0 },
  },
  masses: [],
  allowance: { limit: 30, remaining: 30, resetAt: null, checkPrice: "free" },
  resumeAt: "2026-01-31T20:00:00.000Z",
};
it.each([
  ["free", "5 counted"],
  ["unknown", "5 taken for counted"],
] as const)("where the price of a check is %s, says %s", (checkPrice, words) => {
  const requests = { ...report.requests, sent: 5, counted: 5, notModified: 5 };
  const allowance = { ...report.allowance, checkPrice };
  expect(
    formatReport({ ...report, requests, allowance }, { outlook: null, now, reserve: 0, account: null }),
  ).toContain(words);
});

const context = { outlook: null, now, reserve: 0, account: null };

const lastLine = (text: string) => text.trimEnd().split("\n").at(-1);

describe("a sync that leaves all of the allowance to others", () => {
  it.each([30, 50])("says that --reserve %d is why, and when it is looked at anew", (reserve) => {
    expect(lastLine(formatReport(report, { ...context, reserve }))).toBe(
      `Nothing is left beside --reserve ${reserve}: the service grants 30 a day as far as is known; lower it, or run it again` +
        " at 2026-01-31 20:00 UTC (in 24 h). 12 still due as far as is known; the next sync goes on from here.",
    );
  });

  it.each([0, 29])("does not blame --reserve %d, which leaves something", (reserve) => {
    expect(lastLine(formatReport(report, { ...context, reserve }))).toMatch(
      /^The allowance is spent but for 30/,
    );
  });
});

it.each([
  [3, /in https:\/\/api\.example\.org\/m\/ are gone at once/],
  [4, /, 1 more list are gone at once/],
  [5, /, 2 more lists are gone at once/],
])("%d lists that wait for approval are told with at most three of them", (lists, words) => {
  const resources = { ...report.resources, waiting: 5 * lists };
  const text = formatReport({ ...report, resources, masses: Array(lists).fill(mass) }, context);
  expect(text).toMatch(words);
});

describe("a sync of an account", () => {
  const own = { ...context, account: "ada" };

  it("says once what the token does not grant, and that nothing is lost where it did before", () => {
    const text = formatReport({ ...report, notGranted: ["email", "bras"], withdrawn: ["bras"] }, own);
    expect(text).toContain("Not granted to this token: email.\n");
    expect(text).toContain("No longer granted to this token: bras. What is mirrored of that stays;");
    expect(formatReport({ ...report, notGranted: [] }, own)).not.toContain("Not granted");
  });

  it("names the account in what to do next", () => {
    const resources = { ...report.resources, waiting: 5, failed: 1 };
    const text = formatReport({ ...report, resources, masses: [mass] }, own);
    expect(text).toContain("`armoire sync --account ada --approve` lets them go");
    expect(text).toContain("`armoire status --account ada` lists them");
  });
});

describe("a sync whose report nobody asked for", () => {
  const alone = (parts: Partial<SyncReport>, resources: Partial<SyncReport["resources"]> = {}) =>
    formatOnlyWarnings({ ...report, ...parts, resources: { ...report.resources, ...resources } }, "ada");

  it("tells nothing where all is well, or where the allowance or the budget is all that ended it", () => {
    const complete = { complete: true, stopped: null, notGranted: ["measurements"] } as const;
    expect([alone(complete), alone({}), alone({ stopped: "budget" })]).toEqual(["", "", ""]);
  });

  it.each([
    ["failed resources", {}, { failed: 2 }, "2 failed"],
    ["partial lists", {}, { partial: 1 }, "1 list is partial"],
    ["what waits for approval", { masses: [mass] }, { waiting: 5 }, "`armoire sync --account ada --approve`"],
    ["a grant that is gone", { withdrawn: ["bras"] as const }, {}, "No longer granted to this token: bras."],
    ["a service that stopped answering", { stopped: "error" as const }, {}, "stopped answering"],
  ])("tells of %s, in one line that says whose it is", (_trouble, parts, resources, words) => {
    const text = alone(parts, resources);
    expect(text).toMatch(/^armoire: sync of ada: [^\n]+\n$/);
    expect(text).toContain(words);
  });
});

it.each([
  [[], "Everything is up to date: /mirrors/catalogue.sqlite"],
  [["bras"], "Everything that is granted is up to date: /mirrors/catalogue.sqlite"],
] as const)("where %j is not granted, says what is up to date", (notGranted, line) => {
  const resources = { ...report.resources, pending: 0 };
  const whole = { ...report, resources, complete: true, stopped: null, notGranted };
  expect(lastLine(formatReport(whole, context))).toBe(line);
});

it.each([
  [0, "Nothing else is due as far as is known; the next sync goes on from here."],
  [7, "7 still due as far as is known; the next sync goes on from here."],
])("where %d are due and some lists are partial, says what is left", (pending, words) => {
  const resources = { ...report.resources, pending, partial: 1 };
  expect(lastLine(formatReport({ ...report, stopped: null, resources }, context))).toBe(words);
});
