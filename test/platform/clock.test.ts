import { afterEach, expect, it, vi } from "vitest";
import { systemClock, toIso } from "../../src/platform/clock.ts";

afterEach(() => {
  vi.useRealTimers();
});

it.each([
  ["of today", Date.UTC(2026, 10, 27), "2026-11-27T00:00:00.000Z"],
  ["of the year 10056", Date.UTC(10056, 0), "9000-01-01T00:00:00.000Z"],
  ["before 1970", -1000, "1970-01-01T00:00:00.000Z"],
])("the time of a clock %s has a year of four digits", (_case, now, text) => {
  vi.useFakeTimers({ now, toFake: ["Date"] });
  expect(toIso(systemClock.now())).toBe(text);
});
