import { expect, it } from "vitest";
import { formatAge, formatDays, formatDuration } from "../../src/presentation/durations.ts";
import { formatMoment, formatNext, formatTime } from "../../src/presentation/times.ts";

const now = Date.parse("2026-01-30T20:00:00Z");

it.each([
  [0, "1 s"],
  [89, "89 s"],
  [90, "2 min"],
  [5400, "1.5 h"],
  [86_399, "24 h"],
  [172_800, "2 days"],
  [200_000, "2.3 days"],
])("%d seconds are %s", (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});

it("a future time is rounded up to the minute, with the distance", () => {
  expect(formatMoment("2026-01-31T06:00:00.000Z", now)).toBe("2026-01-31 06:00 UTC (in 10 h)");
  expect(formatMoment("2026-01-31T23:59:00.001Z", now)).toBe("2026-02-01 00:00 UTC (in 28 h)");
  expect(formatMoment("2026-01-30T19:59:00.000Z", now)).toBe("2026-01-30 19:59 UTC (in 1 s)");
});

it("the next time of a schedule is in the minute that was given, whatever its delay", () => {
  expect(formatNext("2026-01-31T06:00:31.000Z", now)).toBe("2026-01-31 06:00 UTC (in 10 h)");
  expect(formatNext(null, now)).toBe("never");
});

it("a time can be shown by the second", () => {
  expect(formatMoment("2026-01-30T20:00:29.000Z", now, "second")).toBe("2026-01-30 20:00:29 UTC (in 29 s)");
  expect(formatMoment("2026-01-30T20:00:59.001Z", now, "second")).toBe("2026-01-30 20:01:00 UTC (in 59 s)");
  expect(formatTime("2026-01-30T20:00:59.999Z", "second")).toBe("2026-01-30 20:00:59 UTC");
  expect(formatTime("2026-01-30T20:00:59.999Z", "minute")).toBe("2026-01-30 20:00 UTC");
});

it("an age is the time since a date, and empty for null", () => {
  expect(formatAge("2026-01-27T20:00:00Z", now)).toBe("3 days");
  expect(formatAge("2026-01-30T20:00:05Z", now)).toBe("1 s");
  expect(formatAge(null, now)).toBe("");
});

it("one day is singular", () => {
  expect([0, 1, 2].map(formatDays)).toEqual(["0 days", "1 day", "2 days"]);
});
