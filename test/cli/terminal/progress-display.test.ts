import { describe, expect, it } from "vitest";
import { formatProgress, progressDisplay } from "../../../src/cli/terminal/progress-display.ts";
import type { SyncProgress } from "../../../src/sync/report.ts";
import { fakeIo } from "../support/fake-io.ts";

const progress: SyncProgress = {
  kinds: [
    { kind: "root", held: 1, known: 1 },
    { kind: "brand", held: 12, known: 683 },
    { kind: "model", held: 0, known: 20 },
  ],
  requests: { sent: 34, counted: 33, notModified: 1, retried: 0, failed: 0 },
  allowance: { limit: 300, remaining: 267, resetAt: null, windowSeconds: 86_400 },
  pending: 691,
  remainingRequests: 691,
  seconds: 17,
  requestsPerSecond: 2,
};

describe("text", () => {
  it("progress as text shows held and known resources, the rate, the allowance and the remaining time", () => {
    expect(
      formatProgress({ ...progress, allowance: { ...progress.allowance, limit: 900, remaining: 867 } }),
    ).toBe("691 due, about 6 min · 34 requests, 2/s · allowance left 867 · brand 12/683 · model 0/20");
  });

  it.each([
    [{ limit: 300, remaining: 691 }, "691 due, about 6 min"],
    [{ limit: 300, remaining: 690 }, "about 691 requests, 1 day at 300 a day"],
    [{ limit: 300, remaining: 267 }, "about 691 requests, 2 days at 300 a day"],
    [{ limit: 30, remaining: 0 }, "about 691 requests, 24 days at 30 a day"],
    [{ limit: 30, remaining: 0, windowSeconds: 3600 }, "about 691 requests, 1 day at 30 an hour"],
    [{ limit: 30, remaining: 0, windowSeconds: null }, "about 691 requests, 24 days at 30 per window"],
    [{ limit: null, remaining: 10 }, "about 691 requests, more than the remaining allowance"],
    [{ limit: 0, remaining: 0 }, "about 691 requests, more than the remaining allowance"],
    [{ limit: null, remaining: null }, "691 due, about 6 min"],
  ])(
    "progress as text shows days if the allowance %j does not cover the due requests",
    (allowance, expected) => {
      const line = formatProgress({ ...progress, allowance: { ...progress.allowance, ...allowance } });
      expect(line.split(" · ").at(0)).toBe(expected);
    },
  );

  it("progress as text includes expected resources and leaves out free checks", () => {
    const isFirst = { ...progress, pending: 20, remainingRequests: 12_567 };
    expect(formatProgress(isFirst)).toMatch(/^about 12,567 requests, 41 days at 300 a day · /);
    const isVerifying = { ...progress, pending: 90_000, remainingRequests: 0 };
    expect(formatProgress(isVerifying)).toMatch(/^90,000 due, about 12.5 h · /);
  });

  it("progress as text has no time while most is still to be found, and then counts what is expected", () => {
    const ample = { ...progress, allowance: { ...progress.allowance, remaining: null } };
    const rest = (parts: Partial<SyncProgress>) =>
      formatProgress({ ...ample, ...parts })
        .split(" · ")
        .at(0);
    // 13 are held.
    expect(rest({ pending: 100, remainingRequests: 214 })).toBe("100 due, most still to be found");
    expect(rest({ pending: 100, remainingRequests: 213 })).toBe("about 213 requests, about 2 min");
    expect(rest({ pending: 213, remainingRequests: 213 })).toBe("213 due, about 2 min");
    expect(rest({ pending: 100, remainingRequests: 213, seconds: 4 })).toBe("about 213 requests");
    expect(rest({ pending: 213, remainingRequests: 213, seconds: 4 })).toBe("213 due");
  });

  it("progress as text leaves out unknown values", () => {
    const unknown = { limit: null, remaining: null, resetAt: null, windowSeconds: null };
    const early = { ...progress, kinds: [], allowance: unknown, requestsPerSecond: 0 };
    expect(formatProgress(early)).toBe("34 requests, 0/s");
  });
});

it("progress on a terminal rewrites one line at a limited rate, fits the terminal, and clears the line at the end", () => {
  let now = 0;
  const io = fakeIo({ isTerminal: true, columns: 20 });
  const display = progressDisplay(io, () => now, formatProgress);
  display.update(() => progress);
  display.update(() => progress);
  now = 250;
  display.update(() => progress);
  display.end();
  const line = "\r\u001b[2Kabout 691 requests,";
  expect(io.written).toEqual({ out: "", err: `${line}${line}\r\u001b[2K` });
});

it.each([
  [78, "about 691 requests, 2 days at 300 a day · 34 requests, 2/s"],
  [82, "about 691 requests, 2 days at 300 a day · 34 requests, 2/s · allowance left 267"],
  [56, "about 691 requests, 2 days at 300 a day"],
])("progress on a terminal of %d columns is cut between parts only", (columns, line) => {
  const io = fakeIo({ isTerminal: true, columns });
  progressDisplay(io, () => 0, formatProgress).update(() => progress);
  expect(io.written.err).toBe(`\r\u001b[2K${line}`);
});

it("progress without a terminal is a plain line every ten seconds, and is not read in between", () => {
  let now = 1000;
  let reads = 0;
  const io = fakeIo();
  const display = progressDisplay(io, () => now, formatProgress);
  const update = () =>
    display.update(() => {
      reads++;
      return progress;
    });
  update();
  now += 10_000;
  update();
  update();
  display.end();
  expect(io.written).toEqual({ out: "", err: `${formatProgress(progress)}\n` });
  expect(reads).toBe(1);
});
