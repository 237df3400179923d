/** The charts of a mirror's first page: what is covered, what it cost, and how old the checks are. Pure. */

import { dayMillis } from "../../platform/clock.ts";
import { formatCount, formatNumber, formatPercent } from "../../presentation/numbers.ts";
import type { AgeOfChecks, DayOfSyncs } from "../../query/status/activity.ts";
import type { Forecast } from "../../sync/plan/forecast.ts";
import type { Chart } from "./chart.ts";

const minuteMillis = 60_000;

/** The share of users' bras whose models are held: each day so far, and as the plan expects it. @param time epoch milliseconds */
export function coverageChart(
  days: readonly DayOfSyncs[],
  { coverage: { covered, expected, after } }: Pick<Forecast, "coverage">,
  time: number,
): Chart {
  // The same chart for a minute is drawn once.
  const now = Math.floor(time / minuteMillis) * minuteMillis;
  const share = (bras: number) => (expected === 0 ? 0 : Math.min(1, bras / expected));
  const [first] = days;
  const soFar = [
    ...(first === undefined ? [] : [{ x: first.day, y: 0 }]),
    ...days.map(({ day, brasCovered }) => ({ x: Math.min(now, day + dayMillis), y: share(brasCovered) })),
    { x: now, y: share(covered) },
  ];
  const expectedPoints = after.map((point) => ({ x: now + point.day * dayMillis, y: point.share }));
  const isWhole = expectedPoints.every(({ y }) => y >= 1);
  return {
    title: "Bras covered",
    summary: `The models of ${formatPercent(share(covered))} of all users' bras are held.`,
    x: { label: "day", form: "time" },
    y: { label: "share of users' bras", form: "share" },
    series: [
      { name: "so far", form: "step", points: soFar },
      ...(isWhole
        ? []
        : [
            { name: "expected", form: "line", isForecast: true, points: untilWhole(expectedPoints) } as const,
          ]),
    ],
  };
}

/** Nothing changes after all is covered. */
function untilWhole<Expected extends { readonly y: number }>(
  points: readonly Expected[],
): readonly Expected[] {
  const end = points.findIndex(({ y }) => y >= 1);
  return end === -1 ? points : points.slice(0, end + 1);
}

const [minDays, maxDays] = [14, 60];
/** Beside a line that is so many times as high as all bars, these could not be seen. */
const maxTimesHigher = 20;

/** Counted requests a day, up to today. @param limit requests a day; null if it is not known */
export function requestsChart(days: readonly DayOfSyncs[], limit: number | null, now: number): Chart {
  const today = Math.floor(now / dayMillis) * dayMillis;
  const counted = new Map(days.map((day) => [day.day, day.counted]));
  const age = 1 + (today - Math.min(today, ...counted.keys())) / dayMillis;
  const length = Math.min(maxDays, Math.max(minDays, age));
  const first = today - (length - 1) * dayMillis;
  const points = Array.from({ length }, (_, n) => {
    const x = first + n * dayMillis;
    return { x, y: counted.get(x) ?? 0 };
  });
  const total = points.reduce((sum, { y }) => sum + y, 0);
  const highest = Math.max(...points.map(({ y }) => y));
  const showsLimit = limit !== null && limit <= maxTimesHigher * highest;
  const allowance = limit === null ? "" : `, of an allowance of ${formatNumber(limit)} a day`;
  return {
    title: "Counted requests a day",
    summary: `${formatCount(total, "counted request")} in ${formatCount(length, "day")}${allowance}.`,
    x: { label: "day", form: "day" },
    y: { label: "counted requests", form: "count" },
    series: [{ name: "counted", form: "bar", points }],
    ...(showsLimit && { limits: [{ label: `allowance ${formatNumber(limit)}`, y: limit }] }),
  };
}

export function agesChart(ages: readonly AgeOfChecks[]): Chart {
  const [newest] = ages;
  const all = ages.reduce((sum, { resources }) => sum + resources, 0);
  return {
    title: "Age of checks",
    summary: `${formatNumber(newest?.resources ?? 0)} of ${formatCount(all, "held resource")} were checked within a day.`,
    x: { label: "checked within", form: "bucket" },
    y: { label: "resources", form: "count" },
    series: [
      {
        name: "resources",
        form: "bar",
        points: ages.map(({ label, resources }) => ({ x: label, y: resources })),
      },
    ],
  };
}
