import { describe, expect, it } from "vitest";
import { formatOnlyWarnings, formatReport } from "../../../../src/cli/format/mirror/report.ts";
import type { SyncReport } from "../../../../src/sync/report.ts";

const now = Date.parse("2026-01-30T20:00:00Z");
const mass = { absent: 5, of: 6, kind: "model", collection: "https://api.example.org/m/" };
const report: SyncReport = {
  ...{ run: 7, mirror: "/mirrors/catalogue.sqlite", complete: false, stopped: "allowance", seconds: 1 },
  upToDate: false,
  requests: { sent: 0, counted: 0, notModified: 0, retried: 0, failed: 0 },
  resources: {
    ...{ new: 0, changed: 0, unchanged: 0, gone: 0, pending: 12, notChecked: 0 },
    ...{ failed: 0, postponed: 0, skipped: 0, awaitingApproval: 0, partial: 0, missingLinks: 0 },
  },
  drift: [],
  bulkDeletions: [],
  allowance: { limit: 30, remaining: 30, resetAt: null, windowSeconds: 86_400, checkPrice: "free" },
  resumeAt: "2026-01-31T20:00:00.000Z",
};
it.each([
  ["free", "5 counted"],
  ["unknown", "5 presumably counted"],
] as const)("with the check price %s, the report shows %s", (checkPrice, expected) => {
  const requests = { ...report.requests, sent: 5, counted: 5, notModified: 5 };
  const allowance = { ...report.allowance, checkPrice };
  expect(formatReport({ ...report, requests, allowance }, context)).toContain(expected);
});

it("a report of one request is in the singular", () => {
  const requests = { ...report.requests, sent: 1, counted: 1, notModified: 0 };
  expect(formatReport({ ...report, requests }, context)).toContain(
    "\n1 request, 1 counted, 0 not modified.\n",
  );
});

const context = { outlook: null, now, reserve: 0, account: null, limits: null };

const lastLine = (text: string) => text.trimEnd().split("\n").at(-1);

describe("reserve", () => {
  it.each([30, 50])(
    "a report names --reserve %d as the reason if the allowance does not exceed it, and the next time to sync",
    (reserve) => {
      expect(lastLine(formatReport(report, { ...context, reserve }))).toBe(
        `--reserve ${reserve} leaves nothing of the known allowance of 30 a day; lower it, or sync again` +
          " at 2026-01-31 20:00 UTC (in 24 h). 12 known to be due; the next sync continues here.",
      );
    },
  );

  it("a report names what --reserve left if the allowance exceeds it", () => {
    expect(lastLine(formatReport(report, { ...context, reserve: 29 }))).toMatch(
      /^The allowance is spent except for a reserve of 29; /,
    );
  });

  it("a report names no reserve without --reserve, also if requests remain by its own estimate", () => {
    expect(lastLine(formatReport(report, { ...context, reserve: 0 }))).toMatch(/^The allowance is spent; /);
  });
});

it.each([
  [3, /in https:\/\/api\.example\.org\/m\/ disappeared at once/],
  [4, /, 1 more list disappeared at once/],
  [5, /, 2 more lists disappeared at once/],
])("a report names at most three of %d lists that wait for approval", (lists, expected) => {
  const resources = { ...report.resources, awaitingApproval: 5 * lists };
  const text = formatReport({ ...report, resources, bulkDeletions: Array(lists).fill(mass) }, context);
  expect(text).toMatch(expected);
});

describe("account", () => {
  const own = { ...context, account: "ada" };

  it("the report of an account names each missing permission once, and states that data of a withdrawn one stays", () => {
    const text = formatReport({ ...report, notGranted: ["email", "bras"], withdrawn: ["bras"] }, own);
    expect(text).toContain("Not granted to this token: email.\n");
    expect(text).toContain("No longer granted to this token: bras. The mirrored data stays;");
    expect(formatReport({ ...report, notGranted: [] }, own)).not.toContain("Not granted");
  });

  it("the report of an account names the account in suggested commands", () => {
    const resources = { ...report.resources, awaitingApproval: 5, failed: 1 };
    const text = formatReport({ ...report, resources, bulkDeletions: [mass] }, own);
    expect(text).toContain("`armoire sync --account ada --approve` accepts them");
    expect(text).toContain("`armoire status --account ada` lists them");
  });
});

describe("--quiet", () => {
  const alone = (parts: Partial<SyncReport>, resources: Partial<SyncReport["resources"]> = {}) =>
    formatOnlyWarnings({ ...report, ...parts, resources: { ...report.resources, ...resources } }, "ada");

  it("a quiet sync prints nothing without a problem, also when the allowance or the budget ended it", () => {
    const complete = { complete: true, stopped: null, notGranted: ["measurements"] } as const;
    expect([alone(complete), alone({}), alone({ stopped: "budget" })]).toEqual(["", "", ""]);
  });

  it.each([
    ["failed resources", {}, { failed: 2 }, "2 failed"],
    ["partial lists", {}, { partial: 1 }, "1 list is partial"],
    [
      "removals that wait for approval",
      { bulkDeletions: [mass] },
      { awaitingApproval: 5 },
      "`armoire sync --account ada --approve`",
    ],
    [
      "a withdrawn permission",
      { withdrawn: ["bras"] as const },
      {},
      "No longer granted to this token: bras.",
    ],
    ["a service that no longer responds", { stopped: "error" as const }, {}, "no longer responds"],
  ])(
    "a quiet sync prints one line about %s with the account's name",
    (_trouble, parts, resources, expected) => {
      const text = alone(parts, resources);
      expect(text).toMatch(/^armoire: sync of ada: [^\n]+\n$/);
      expect(text).toContain(expected);
    },
  );
});

it.each([
  [[], null, "Everything is up to date: /mirrors/catalogue.sqlite"],
  [["bras"], null, "Everything that the token permits is up to date: /mirrors/catalogue.sqlite"],
  [[], "--depth brands", "Everything within --depth brands is up to date: /mirrors/catalogue.sqlite"],
] as const)(
  "a complete sync without the permissions %j and with the limits %s states what is up to date",
  (notGranted, limits, line) => {
    const resources = { ...report.resources, pending: 0 };
    const whole = { ...report, resources, complete: true, stopped: null, notGranted };
    expect(lastLine(formatReport(whole, { ...context, limits }))).toBe(line);
  },
);

it.each([
  [0, "Nothing else is known to be due; the next sync continues here."],
  [7, "7 known to be due; the next sync continues here."],
])("a sync with partial lists states that %d resources are due", (pending, expected) => {
  const resources = { ...report.resources, pending, partial: 1 };
  expect(lastLine(formatReport({ ...report, stopped: null, resources }, context))).toBe(expected);
});
