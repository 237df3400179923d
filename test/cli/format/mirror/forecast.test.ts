import { describe, expect, it } from "vitest";
import {
  chartCoverage,
  summarizeForecast,
  tabulateDays,
  warnOfStaleness,
} from "../../../../src/cli/format/mirror/plan.ts";
import { describeMaxStaleness } from "../../../../src/sync/describe-plan.ts";
import type { Forecast } from "../../../../src/sync/plan/forecast.ts";

const forecast: Forecast = {
  limit: 100,
  requestsPerDay: 100,
  depths: [
    { depth: "brands", kinds: [], remainingRequests: 0, days: { atLimit: 0, withApp: 0, withNone: 0 } },
    { depth: "models", kinds: [], remainingRequests: 90, days: { atLimit: 1, withApp: 1, withNone: 3 } },
    { depth: "sizes", kinds: [], remainingRequests: 4100, days: { atLimit: 41, withApp: 14, withNone: 137 } },
  ],
  coverage: {
    covered: 310,
    expected: 1000,
    after: [
      { day: 0, share: 0.31 },
      { day: 1, share: 0.5 },
      { day: 7, share: 0.999 },
      { day: 30, share: 1 },
    ],
  },
  maxStaleness: { days: 30, attainableDays: 3, requiredPerDay: 100, secondsPerDay: 10 },
};
const whole: Forecast = {
  ...forecast,
  depths: forecast.depths.map((depth) => ({ ...depth, remainingRequests: 0 })),
  coverage: { covered: 1000, expected: 1000, after: [{ day: 0, share: 1 }] },
};

describe("one line", () => {
  it("a forecast in one line states the coverage now and in the next days, and when each depth is complete", () => {
    expect(summarizeForecast(forecast, "sizes")).toBe(
      "The mirror holds the models of about 31 % of all users' bras, 50 % in 1 day, 99 % in 7 days, 100 % in 30 days; all models in 1 day, all sizes in 41 days, at 100 requests a day.",
    );
  });

  it("a forecast in one line ends at the depth of the sync", () => {
    expect(summarizeForecast(forecast, "models")).toMatch(/; all models in 1 day, at 100 requests a day\.$/);
    expect(summarizeForecast(forecast, "brands")).toBe(
      "The mirror holds the models of about 31 % of all users' bras, and is complete.",
    );
  });

  it("a forecast in one line does not take failed models for held ones", () => {
    const model = { kind: "model", known: 100, held: 20, expected: 100 };
    const size = { kind: "size", known: 10, held: 0, expected: 42 };
    const depths = forecast.depths.map((depth) => ({
      ...depth,
      kinds: { brands: [], models: [model], sizes: [size] }[depth.depth],
    }));
    expect(summarizeForecast({ ...forecast, depths, coverage: whole.coverage }, "sizes")).toMatch(
      /^The mirror holds the models of 100 % of all users' bras; all models in 1 day, /,
    );
  });

  it("a forecast in one line states missing sizes where all models are held", () => {
    const sizes = { kind: "size", known: 10, held: 0, expected: 42 };
    const depths = forecast.depths.map((depth) => ({
      ...depth,
      ...(depth.depth === "sizes" ? { kinds: [sizes] } : { remainingRequests: 0 }),
    }));
    const { coverage } = whole;
    expect(summarizeForecast({ ...forecast, depths, coverage }, "sizes")).toMatch(
      /^All models are held, and 0 of about 42 sizes; .*all sizes in \d+ days, at 100 requests a day\.$/,
    );
  });

  it("a forecast in one line ends its shares with the first 100 %", () => {
    const after = [1, 7, 30].map((day) => ({ day, share: 1 }));
    expect(summarizeForecast({ ...forecast, coverage: { ...forecast.coverage, after } }, "sizes")).toMatch(
      /bras, 100 % in 1 day; all models/,
    );
  });

  it("a forecast in one line states that a mirror is complete", () => {
    expect(summarizeForecast(whole, "sizes")).toBe(
      "The mirror holds the models of 100 % of all users' bras, and is complete.",
    );
  });
});

describe("days", () => {
  it("days are given for the current limit, and for the documented allowances with and without an application", () => {
    expect(tabulateDays(forecast).split("\n")).toEqual([
      "up to   requests  at 100 a day  with app key (300)  without (30)",
      expect.stringMatching(/^─/),
      "brands         0  done          done                done",
      "models        90  1 day         1 day               3 days",
      "sizes       4100  41 days       14 days             137 days",
      "",
    ]);
  });

  it("days are given for the documented allowances only, if the current limit is unknown", () => {
    const depths = forecast.depths.map((depth) => ({ ...depth, days: { ...depth.days, atLimit: null } }));
    expect(tabulateDays({ ...forecast, limit: null, depths })).toMatch(
      /^up to {3}requests {2}with app key \(300\) {2}without \(30\)\n/,
    );
  });
});

it("the chart has one bar per milestone, full only at 100 %", () => {
  expect(chartCoverage(forecast)).toBe(
    [
      `now       31 %  ${"█".repeat(12)}`,
      `1 day     50 %  ${"█".repeat(20)}`,
      `7 days    99 %  ${"█".repeat(39)}`,
      `30 days  100 %  ${"█".repeat(40)}`,
      "",
    ].join("\n"),
  );
});

it("an unattainable max staleness comes with options to change", () => {
  expect(describeMaxStaleness(forecast)).toMatch(/takes 3 days, within --max-staleness \(30 days\)/);
  const late = (requiredPerDay: number, secondsPerDay: number | null) => ({
    ...forecast,
    maxStaleness: { days: 30, attainableDays: 31, requiredPerDay, secondsPerDay },
  });
  const begin = "Checking everything takes 31 days, longer than --max-staleness (30 days)";
  expect(describeMaxStaleness(late(2100, 210))).toBe(
    `${begin}: give a daily sync --max-free-checks 2100, which takes about 4 min, or give --max-staleness 31d.`,
  );
  expect(describeMaxStaleness(late(90_000, 9000))).toBe(
    `${begin}: give a daily sync --max-free-checks 90000 --check-concurrency 3, which takes about 50 min, or give --max-staleness 31d.`,
  );
  expect(describeMaxStaleness(late(2100, null))).toBe(
    `${begin}, since checks spend allowance: give --max-staleness 31d.`,
  );
  expect([warnOfStaleness(forecast), warnOfStaleness(null)]).toEqual(["", ""]);
  expect(warnOfStaleness(late(2100, 210))).toBe(`${describeMaxStaleness(late(2100, 210))}\n`);
});
