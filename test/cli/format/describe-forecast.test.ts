import { describe, expect, it } from "vitest";
import {
  chartCoverage,
  formatMaxStaleness,
  summarizeForecast,
  tabulateDays,
} from "../../../src/cli/format/plan.ts";
import type { Forecast } from "../../../src/sync/plan/forecast.ts";

const forecast: Forecast = {
  limit: 100,
  requestsPerDay: 100,
  depths: [
    { depth: "brands", kinds: [], requestsLeft: 0, days: { atLimit: 0, withApp: 0, withNone: 0 } },
    { depth: "models", kinds: [], requestsLeft: 90, days: { atLimit: 1, withApp: 1, withNone: 3 } },
    { depth: "sizes", kinds: [], requestsLeft: 4100, days: { atLimit: 41, withApp: 14, withNone: 137 } },
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
  maxStaleness: { days: 30, attainableDays: 3 },
};
const whole: Forecast = {
  ...forecast,
  depths: forecast.depths.map((depth) => ({ ...depth, requestsLeft: 0 })),
  coverage: { covered: 1000, expected: 1000, after: [{ day: 0, share: 1 }] },
};

describe("a forecast in one line", () => {
  it("is what is covered, what the next days bring, and when all is there", () => {
    expect(summarizeForecast(forecast, "sizes")).toBe(
      "31 % of all bras are covered, 50 % in 1 day, 99 % in 7 days, 100 % in 30 days; all models in 1 day, all sizes in 41 days, at 100 a day.",
    );
  });

  it("looks no further than the sync goes", () => {
    expect(summarizeForecast(forecast, "models")).toMatch(/; all models in 1 day, at 100 a day\.$/);
    expect(summarizeForecast(forecast, "brands")).toBe(
      "31 % of all bras are covered, and everything is held.",
    );
  });

  it("of what is complete says so", () => {
    expect(summarizeForecast(whole, "sizes")).toBe("100 % of all bras are covered, and everything is held.");
  });
});

describe("the days until everything is held", () => {
  it("are told at one's own allowance, with an application's and with none", () => {
    expect(tabulateDays(forecast).split("\n")).toEqual([
      "up to   requests  at your 100 a day  with app (300)  without (30)",
      expect.stringMatching(/^─/),
      "brands         0  done               done            done",
      "models        90  1 day              1 day           3 days",
      "sizes       4100  41 days            14 days         137 days",
      "",
    ]);
  });

  it("are told for the usual allowances where one's own is not known", () => {
    const depths = forecast.depths.map((depth) => ({ ...depth, days: { ...depth.days, atLimit: null } }));
    expect(tabulateDays({ ...forecast, limit: null, depths })).toMatch(
      /^up to {3}requests {2}with app \(300\) {2}without \(30\)\n/,
    );
  });
});

it("the chart has a bar a milestone, and is full no sooner than everything is covered", () => {
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

it("max staleness is attainable or is not, and then says what helps", () => {
  expect(formatMaxStaleness(forecast)).toMatch(/within 3 days, so that nothing need get older than 30 days/);
  expect(formatMaxStaleness({ ...forecast, maxStaleness: { days: 30, attainableDays: 31 } })).toMatch(
    /within 31 days, not within 30 days \(--max-staleness\): .*--max-free-checks/,
  );
});
