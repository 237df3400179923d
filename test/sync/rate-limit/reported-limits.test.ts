/** How far the figures of a service are believed. */
import { describe, expect, it } from "vitest";
import { type AttemptReport, noResponse } from "../../../src/service/requests/rate-limiter.ts";
import { planSync } from "../../../src/sync/plan/preview.ts";
import { describeWindow } from "../../../src/sync/rate-limit/known-allowance.ts";
import { decideLease } from "../../../src/sync/rate-limit/leases.ts";
import { emptyWindow, type WindowState } from "../../../src/sync/rate-limit/window.ts";
import { lease, releaseLease, renew } from "../../../src/sync/rate-limit/window-events.ts";
import { startRig } from "../support/rig.ts";

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.parse("2026-03-01T12:00:00Z");
const tiny = { brands: 2, models: 3, sizes: 5, pageSize: 2 };

function receive(before: WindowState, report: Partial<AttemptReport>, now: number): WindowState {
  const leased = lease(renew(before, now), "a", 1);
  const isRefusal = report.status === 403;
  const full = { ...noResponse, status: 200, isRefusal, ...report };
  return releaseLease(leased.state, { lease: leased.lease, isRoot: false, report: full }, now);
}

const counts = (limit: number, remaining: number, resetAt: number | null = null) => ({
  allowance: { limit, remaining, resetAt },
});

describe("a limit that is what was used", () => {
  it("a limit below the remaining count is what was used, and the grant is their sum", () => {
    const state = receive(emptyWindow, counts(1, 29), start);
    expect(describeWindow(state)).toMatchObject({ limit: 30, remaining: 29 });
  });

  it("a limit that grows as the remaining count falls is what was used", () => {
    const first = receive(emptyWindow, counts(20, 10), start);
    expect(describeWindow(first)).toMatchObject({ limit: 20, remaining: 10 });
    const second = receive(first, counts(21, 9), start);
    expect(describeWindow(second)).toMatchObject({ limit: 30, remaining: 9 });
    expect(describeWindow(receive(second, counts(30, 0), start))).toMatchObject({ limit: 30, remaining: 0 });
  });

  it("a limit that stays while the remaining count falls is the grant", () => {
    const odd = receive(emptyWindow, counts(10, 30), start);
    const first = receive(odd, counts(30, 20), start);
    expect(describeWindow(receive(first, counts(30, 19), start))).toMatchObject({ limit: 30, remaining: 19 });
  });

  it("half a window that is used is no full window", () => {
    const first = receive(emptyWindow, counts(1, 29), start);
    const half = receive(first, { ...counts(15, 15), status: 304 }, start);
    expect(half.isFree304).toBeNull();
  });

  it("a sync over such a service spends the allowance exactly, without a refusal", async () => {
    await using rig = await startRig({ ...tiny, limitMeaning: "used", allowance: 5 });
    expect(await rig.sync()).toMatchObject({
      stopped: "allowance",
      allowance: { limit: 5, remaining: 0 },
      requests: { counted: 5 },
    });
    rig.sandbox.moveClock({ advanceSeconds: 86_401 });
    expect(await rig.sync()).toMatchObject({ requests: { counted: 5 }, allowance: { limit: 5 } });
    expect(rig.sandbox.log().filter(({ status }) => status >= 400)).toEqual([]);
  });
});

describe("a short window beside a long one", () => {
  const next = (remaining: number, end: number) => ({
    allowance: {
      limit: 300,
      remaining: 250,
      resetAt: start + day,
      short: { remaining, resetAt: start + end },
    },
  });

  it.each([200, 304, 429])("no request is sent before a spent short window ends, after a %d", (status) => {
    const state = receive(emptyWindow, { ...next(0, 10_000), status }, start);
    expect(decideLease(renew(state, start + 9_999), 0)).toEqual({ do: "pause", until: start + 10_000 });
    expect(decideLease(renew(state, start + 10_000), 0)).toMatchObject({ do: "send" });
    expect(describeWindow(renew(state, start + 10_000))).toMatchObject({ remaining: 250 });
  });

  const send = (state: WindowState) => lease(state, "a", 1).state;

  it("no more requests run together than the short window has left", () => {
    const state = receive(emptyWindow, next(2, 10_000), start);
    expect(decideLease(state, 0)).toEqual({ do: "send", room: 2 });
    expect(decideLease(send(state), 0)).toEqual({ do: "send", room: 1 });
    expect(decideLease(send(send(state)), 0)).toEqual({ do: "wait" });
  });

  it("a response without the fields, and one that was overtaken, leave no more than before", () => {
    const sent = send(send(receive(emptyWindow, next(3, 10_000), start)));
    const silent = receive(sent, {}, start + 1);
    expect(decideLease(silent, 0)).toEqual({ do: "wait" });
    const [older, newer] = [lease(emptyWindow, "a", 1), lease(lease(emptyWindow, "a", 1).state, "a", 1)];
    const release = (state: WindowState, from: typeof older, remaining: number) => {
      const report = { ...noResponse, status: 200, ...next(remaining, 10_000) };
      return releaseLease(state, { lease: from.lease, isRoot: false, report }, start);
    };
    expect(decideLease(release(release(newer.state, newer, 1), older, 2), 0)).toMatchObject({ room: 1 });
  });

  it("what the short window granted without saying so is waited for", () => {
    const state = receive(receive(emptyWindow, next(1, 10_000), start), {}, start + 1);
    expect(decideLease(state, 0)).toEqual({ do: "pause", until: start + 10_000 });
  });

  it("after its end, one request finds out what the next one grants", () => {
    const ended = renew(receive(emptyWindow, next(2, 10_000), start), start + 10_000);
    expect(decideLease(ended, 0)).toEqual({ do: "send", room: 1 });
    expect(decideLease(send(ended), 0)).toEqual({ do: "wait" });
    expect(decideLease(receive(ended, next(3, 70_000), start + 10_001), 0)).toMatchObject({ room: 3 });
    expect(decideLease(receive(ended, {}, start + 10_001), 0)).toMatchObject({ room: 1 });
    const long = counts(300, 250, start + day);
    expect(decideLease(receive(ended, long, start + 10_001), 0)).toMatchObject({ room: 250 });
  });

  it("a clock that is set back does not prolong it", () => {
    const state = receive(emptyWindow, next(1, 10_000), start);
    expect(decideLease(renew(send(send(state)), start - hour), 0)).toEqual({ do: "wait" });
    expect(decideLease(renew(receive(state, {}, start + 1), start - hour), 0)).toMatchObject({ do: "send" });
  });
});

describe("the names of the headers", () => {
  it.each(["ratelimit", "structured"] as const)(
    "a service with the fields %s is spent exactly, without a refusal",
    async (rateLimitFields) => {
      await using rig = await startRig({ ...tiny, rateLimitFields, allowance: 5, windowSeconds: 3600 });
      const report = await rig.sync();
      expect(report).toMatchObject({ stopped: "allowance", allowance: { limit: 5, remaining: 0 } });
      const wait = Date.parse(report.resumeAt ?? "") - rig.sandbox.now().getTime();
      expect(wait).toBeGreaterThan(3_590_000);
      expect(wait).toBeLessThanOrEqual(3_601_000);
      expect(rig.sandbox.log().filter(({ status }) => status >= 400)).toEqual([]);
    },
  );
});

describe("a wait that a service demands", () => {
  const waitOf = (state: WindowState, now: number) => {
    const decision = decideLease(renew(state, now), 0);
    if (decision.do === "pause") return decision.until - now;
    return decision.do === "refuse" ? (decision.resumeAt ?? Number.NaN) - now : 0;
  };

  it.each([
    ["Retry-After", { status: 429, retryAt: start + 366 * day }],
    ["a reset", { status: 403, ...counts(30, 0, start + 30 * day) }],
    ["an absurd reset", { status: 403, ...counts(30, 0, start + 3000 * day) }],
  ])("%s is believed for at most a day, then one request finds out", (_form, report) => {
    const refused = receive(emptyWindow, report, start);
    expect(waitOf(refused, start)).toBe(day);
    const later = renew(refused, start + day);
    expect(decideLease(later, 0)).toEqual({ do: "send", room: 1 });
    const refusedAgain = receive(later, report, start + day);
    expect(waitOf(refusedAgain, start + day)).toBeLessThanOrEqual(day);
  });

  it("a window of a month is believed once two responses agree about its end", () => {
    const end = start + 30 * day;
    const first = receive(emptyWindow, counts(30, 29, end), start);
    expect(waitOf(receive(first, counts(30, 0, end), start + hour), start + hour)).toBe(end - start - hour);
  });

  it("after a long wait for one resource, the remaining count is not relied on", () => {
    const known = receive(emptyWindow, counts(300, 200, start + 3 * day), start);
    const blocked = receive(known, { status: 429, retryAt: start + 5 * hour }, start);
    expect(waitOf(blocked, start)).toBe(5 * hour);
    expect(decideLease(renew(blocked, start + 5 * hour), 0)).toEqual({ do: "send", room: 1 });
  });

  it.each([
    { fault: "status", status: 429, retryAfter: "99999999999" },
    { fault: "allowance-spent", count: 20_000_000 },
  ] as const)(
    "a mirror is not locked for more than twice the known window, which is a day, by %o",
    async (fault) => {
      await using rig = await startRig(tiny);
      rig.sandbox.setFaults([{ times: "always", ...fault }]);
      const { stopped, resumeAt } = await rig.sync();
      rig.sandbox.setFaults([]);
      expect(stopped).toBe("allowance");
      const wait = Date.parse(resumeAt ?? "") - rig.sandbox.now().getTime();
      expect(wait).toBeGreaterThan(day - 60_000);
      expect(wait).toBeLessThanOrEqual(2 * day + 2000);
      rig.sandbox.moveClock({ advanceSeconds: 2 * 86_401 });
      expect(await rig.sync()).toMatchObject({ complete: true });
    },
  );
});

describe("the length of a window", () => {
  const minute = 60_000;
  /** Readings at times with ends, both in milliseconds after the start. */
  const lengthAfter = (readings: readonly (readonly [at: number, end: number])[]) =>
    describeWindow(
      readings.reduce(
        (state, [at, end]) => receive(state, counts(30, 20, start + end), start + at),
        emptyWindow,
      ),
    ).windowSeconds;

  it.each([
    ["a day, without a report", [], 86_400],
    ["not known after one response", [[0, day]], null],
    [
      "a day, after two responses that agree",
      [
        [0, day],
        [2000, day],
      ],
      86_400,
    ],
    [
      "not known while one window below a day was seen",
      [
        [0, hour],
        [1000, hour],
      ],
      null,
    ],
    [
      "an hour, after two windows from their first requests",
      [
        [0, hour],
        [1000, hour],
        [70 * minute, 130 * minute],
        [71 * minute, 130 * minute],
      ],
      3600,
    ],
    [
      "an hour, after two windows that begin on the hour",
      [
        [0, 10 * minute],
        [1000, 10 * minute],
        [15 * minute, 70 * minute],
        [16 * minute, 70 * minute],
      ],
      3600,
    ],
    [
      "20 seconds, after three windows",
      [
        [0, 20_000],
        [1, 20_000],
        [21_000, 41_000],
        [21_001, 41_000],
        [45_000, 65_000],
        [45_001, 65_000],
      ],
      20,
    ],
    [
      "not known if a window that ends at midnight is met once a day",
      [
        [0, hour],
        [1000, hour],
        [day, day + hour],
        [day + 1000, day + hour],
      ],
      null,
    ],
    [
      "a week, after one window",
      [
        [0, 7 * day],
        [1000, 7 * day],
      ],
      7 * 86_400,
    ],
  ] satisfies [string, [number, number][], number | null][])(
    "a window's length is %s",
    (_, readings, seconds) => {
      expect(lengthAfter(readings)).toBe(seconds);
    },
  );
});

it("an allowance of an hour is printed as such, and counts 24 times a day in forecasts", async () => {
  await using rig = await startRig({ ...tiny, allowance: 5, windowSeconds: 3600 });
  await rig.sync();
  rig.sandbox.moveClock({ advanceSeconds: 3700 });
  expect(await rig.sync()).toMatchObject({ allowance: { limit: 5, windowSeconds: 3600 } });
  const plan = planSync({ file: rig.file, baseUrl: rig.sandbox.url, clock: rig.clock });
  expect(plan.forecast).toMatchObject({ limit: 120, requestsPerDay: 120 });
});
