import fc from "fast-check";
import { timeAfter } from "../../../src/schedule/cron-times.ts";
import type { Schedule } from "../../../src/schedule/schedule.ts";

export const zones = [
  ...["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"],
  ...["Pacific/Apia", "Africa/Cairo", "America/Sao_Paulo", "America/Nuuk"],
] as const;

const field = (min: number, max: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant("*"),
    fc.integer({ min, max }).map(String),
    fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }).map(String),
    fc
      .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
      .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.integer({ min: 2, max: 7 }).map((step) => `*/${step}`),
  );

/** Five fields that are due at some time. */
export const arbitraryCron: fc.Arbitrary<string> = fc
  .tuple(
    field(0, 59),
    fc.oneof(field(0, 23), fc.constantFrom("1", "2", "2,3", "0-3")),
    fc.oneof({ weight: 3, arbitrary: fc.constant("*") }, { weight: 1, arbitrary: field(1, 28) }),
    fc.oneof({ weight: 5, arbitrary: fc.constant("*") }, { weight: 1, arbitrary: field(1, 12) }),
    fc.oneof({ weight: 3, arbitrary: fc.constant("*") }, { weight: 1, arbitrary: field(0, 6) }),
  )
  .map((fields) => fields.join(" "));

/** Usually within hours of a clock change. */
export const arbitraryMoment: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) }),
  fc
    .tuple(
      fc.constantFrom(
        ...[Date.UTC(2026, 2, 8, 7), Date.UTC(2026, 10, 1, 6), Date.UTC(2026, 2, 29, 1)],
        ...[Date.UTC(2026, 9, 25, 1), Date.UTC(2026, 3, 4, 15), Date.UTC(2026, 9, 3, 15, 30)],
        ...[Date.UTC(2026, 3, 23, 22), Date.UTC(2026, 9, 29, 21)],
      ),
      fc.integer({ min: -8_000_000, max: 8_000_000 }),
    )
    .map(([change, offset]) => change + offset),
);

export const someSchedule: Schedule = {
  ...{ name: "daily", cron: "0 6 * * *", tz: "UTC", jitterMillis: 0, delayMillis: 0 },
  ...{ args: ["sync"], folder: "/", mirror: "catalogue", addedAt: "2026-01-01T00:00:00.000Z" },
};

/** @param from epoch milliseconds, exclusive @param to inclusive @returns all due times between them */
export function timesBetween(schedule: Schedule, from: number, to: number): number[] {
  const times: number[] = [];
  for (let time = timeAfter(schedule, from); time !== null && time <= to; time = timeAfter(schedule, time))
    times.push(time);
  return times;
}
