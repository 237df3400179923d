import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requireTimes, timeAfter, timeUpTo } from "../../src/schedule/cron-times.ts";
import { ScheduleError } from "../../src/schedule/errors.ts";
import {
  arbitraryCron,
  arbitraryMoment,
  someSchedule,
  timesBetween,
  zones,
} from "./support/arbitrary-schedule.ts";

const iso = (millis: number | null) => (millis === null ? null : new Date(millis).toISOString());
const timesOf = (cron: string, tz: string, from: string, to: string) =>
  timesBetween({ ...someSchedule, cron, tz }, Date.parse(from), Date.parse(to)).map(iso);

describe("due times", () => {
  it("a due time that the clock skips is due right after the gap, once", () => {
    expect(timesOf("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-30T12:00Z")).toEqual([
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
    // Two skipped times are due together.
    expect(timesOf("10,40 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T12:00Z")).toEqual([
      "2026-03-29T01:00:00.000Z",
    ]);
  });

  it("a due time in a gap that ends on the next day is due right after it, once", () => {
    const [from, to] = ["2026-03-27T12:00Z", "2026-03-30T12:00Z"];
    expect(timesOf("30 23 * * *", "America/Nuuk", from, to)).toEqual([
      "2026-03-28T01:30:00.000Z",
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
    expect(timesOf("10,40 23 28 3 *", "America/Nuuk", "2025-07-01T00:00Z", to)).toEqual([
      "2026-03-29T01:00:00.000Z",
    ]);
    expect(timesOf("30 * 28 3 *", "America/Nuuk", "2026-03-29T00:00Z", to)).toEqual([
      "2026-03-29T00:30:00.000Z",
    ]);
  });

  it("a due time that the clock repeats is due once", () => {
    expect(timesOf("30 2,14 * * *", "Europe/Berlin", "2026-10-24T20:00Z", "2026-10-25T20:00Z")).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-25T13:30:00.000Z",
    ]);
  });

  it("every half hour stays every half hour during clock changes", () => {
    expect(timesOf("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:45Z", "2026-10-25T02:00Z")).toHaveLength(
      5,
    );
    expect(timesOf("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:15Z", "2026-03-29T02:15Z")).toHaveLength(
      4,
    );
  });

  it("a due time is delayed by the same time every day", () => {
    const delayed = { ...someSchedule, delayMillis: 90_000 };
    expect(iso(timeAfter(delayed, Date.parse("2026-01-01T06:00:30Z")))).toBe("2026-01-01T06:01:30.000Z");
    expect(iso(timeAfter(delayed, Date.parse("2026-01-01T06:01:30Z")))).toBe("2026-01-02T06:01:30.000Z");
    expect(iso(timeUpTo(delayed, Date.parse("2026-01-01T06:01:30Z")))).toBe("2026-01-01T06:01:30.000Z");
    expect(iso(timeUpTo(delayed, Date.parse("2026-01-02T06:01:29.999Z")))).toBe("2026-01-01T06:01:30.000Z");
  });
});

it("no due time lies between the last one up to a moment and the first one after it", () => {
  fc.assert(
    fc.property(
      arbitraryCron,
      fc.constantFrom(...zones),
      arbitraryMoment,
      fc.nat(3600),
      (cron, tz, now, delaySeconds) => {
        const schedule = { ...someSchedule, cron, tz, delayMillis: delaySeconds * 1000 };
        const last = timeUpTo(schedule, now);
        const next = timeAfter(schedule, now);
        if (next !== null) expect(next).toBeGreaterThan(now);
        if (last === null) return;
        expect(last).toBeLessThanOrEqual(now);
        expect(timeAfter(schedule, last - 1)).toBe(last);
        expect(timeAfter(schedule, last)).toBe(next);
      },
    ),
    { numRuns: 400 },
  );
});

describe("validation", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  it.each([
    ["61 * * * *", "UTC", /Invalid value for minute/],
    ["* * * *", "UTC", /is not a cron expression/],
    ["0 0 6 * * * 2026", "UTC", /is not a cron expression/],
    ["2026-05-01T00:00:00", "UTC", /is not a cron expression/],
    ["@reboot", "UTC", /is not a cron expression/],
    ["", "UTC", /is not a cron expression/],
    ["0 6 30 2 *", "UTC", /is never due/],
    ["0 6 * * *", "Europe/Nowhere", /no time zone "Europe\/Nowhere"/],
    ["0 6 * * *", "+02:00", /no time zone/],
    ["0 6 * * *", "", /no time zone/],
  ])("requireTimes rejects %j in the time zone %j", (cron, tz, message) => {
    expect(() => requireTimes(cron, tz, now)).toThrow(ScheduleError);
    expect(() => requireTimes(cron, tz, now)).toThrow(message);
  });

  it("requireTimes returns the time zone in IANA's spelling", () => {
    expect(requireTimes("@daily", "europe/paris", now)).toBe("Europe/Paris");
  });
});
