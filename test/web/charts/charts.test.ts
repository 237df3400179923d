import fc from "fast-check";
import { parseHTML } from "linkedom";
import { expect, it } from "vitest";
import { answerChart, measurementCharts } from "../../../src/web/charts/answer-charts.ts";
import type { Chart } from "../../../src/web/charts/chart.ts";
import { drawChart } from "../../../src/web/charts/draw.ts";
import { chartFigure } from "../../../src/web/charts/figure.ts";
import { agesChart, coverageChart, requestsChart } from "../../../src/web/charts/mirror-charts.ts";

const dayMillis = 86_400_000;
const today = Date.UTC(2026, 10, 24);
const now = today + 8 * 3_600_000;

const elementsOf = (svg: string) => [
  ...parseHTML(`<!doctype html><html><body>${svg}</body></html>`).document.querySelectorAll("body *"),
];

/** The names of all elements in order. */
const structureOf = (svg: string) => elementsOf(svg).map(({ localName }) => localName);

const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    ...["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</svg><iframe>", "]]>", "&lt;b&gt;"],
  ),
);

const barsNamed = (title: string, names: readonly string[]): Chart => ({
  title,
  summary: title,
  x: { label: title, form: "name" },
  y: { label: title, form: "count" },
  series: [{ name: title, form: "bar", points: names.map((x, n) => ({ x, y: n + 1 })) }],
});

it("a drawing has only the kinds of elements that it has with harmless texts, whatever the texts are", async () => {
  const names = fc.uniqueArray(hostileText, { minLength: 3, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(hostileText, names, async (title, [a = "", b = "", c = ""]) => {
      const drawn = drawChart(barsNamed(`${title}.`, [`a${a}`, `b${b}`, `c${c}`]));
      const harmless = drawChart(barsNamed("t", ["a", "b", "c"]));
      expect(new Set(structureOf(drawn))).toEqual(new Set(structureOf(harmless)));
    }),
    { numRuns: 30 },
  );
});

it("a drawing has no style, script, link or handler, which the content security policy would block", async () => {
  const svg = drawChart(requestsChart([{ day: today, counted: 7, brasCovered: 0 }], 300, now));
  for (const element of elementsOf(svg)) {
    expect(["style", "script", "a", "image", "use", "foreignobject"]).not.toContain(element.localName);
    const names = [...element.attributes].map(({ name }) => name);
    expect(
      names.filter((name) => name === "style" || name.startsWith("on") || name.includes("href")),
    ).toEqual([]);
  }
});

it("a figure shows every number of its chart as text", async () => {
  const chart = requestsChart([{ day: today - 2 * dayMillis, counted: 12_345, brasCovered: 0 }], 300, now);
  const { document } = parseHTML(String(await chartFigure(chart)));
  const rows = [...document.querySelectorAll("tbody tr")].map((row) =>
    [...row.children].map(({ textContent }) => textContent),
  );
  expect(rows).toHaveLength(14);
  expect(rows.slice(-3)).toEqual([
    ["2026-11-22", "12,345"],
    ["2026-11-23", "0"],
    ["2026-11-24", "0"],
  ]);
});

it("a chart without a number is no figure", async () => {
  expect(await chartFigure(barsNamed("nothing", []))).toBe("");
});

it("a chart that cannot be drawn is a sentence in its page", async () => {
  const chart = barsNamed("Bras", ["a", "b"]);
  const point = { x: Number.POSITIVE_INFINITY, y: 1 };
  const impossible = {
    ...chart,
    x: { label: "day", form: "time" },
    series: [{ name: "n", form: "line", points: [point] }],
  } as const;
  expect(String(await chartFigure(impossible))).toContain("cannot be drawn");
});

it("the coverage of each day ends with the present share, and the forecast begins with it", () => {
  const after = [
    { day: 0, share: 0.25 },
    { day: 7, share: 0.75 },
    { day: 14, share: 1 },
    { day: 30, share: 1 },
  ];
  const days = [
    { day: today - dayMillis, counted: 5, brasCovered: 100 },
    { day: today, counted: 5, brasCovered: 250 },
  ];
  const chart = coverageChart(days, { coverage: { covered: 250, expected: 1000, after } }, now);
  const [soFar, expected] = chart.series;
  expect(soFar?.points).toEqual([
    { x: today - dayMillis, y: 0 },
    { x: today, y: 0.1 },
    { x: now, y: 0.25 },
    { x: now, y: 0.25 },
  ]);
  expect(expected?.points.map(({ y }) => y)).toEqual([0.25, 0.75, 1]);
  expect(chart.summary).toBe("The models of 25 % of all users' bras are held.");
});

it("what is expected is a broken line in the drawing and in its key, and not only another colour", async () => {
  const after = [
    { day: 0, share: 0.5 },
    { day: 7, share: 1 },
  ];
  const coverage = { covered: 1, expected: 2, after };
  const chart = coverageChart([{ day: today, counted: 5, brasCovered: 1 }], { coverage }, now);
  const { document } = parseHTML(String(await chartFigure(chart)));
  const lines = [...document.querySelectorAll("svg [stroke-dasharray]")];
  expect(lines.map((line) => line.getAttribute("stroke"))).toEqual(["var(--chart-2)"]);
  const keys = [...document.querySelectorAll(".chart-keys li")];
  expect(keys.map(({ className, textContent }) => [className, textContent])).toEqual([
    ["chart-key-1", "so far"],
    ["chart-key-2 forecast", "expected"],
  ]);
});

it("a covered catalogue has no forecast", () => {
  const coverage = { covered: 10, expected: 10, after: [{ day: 0, share: 1 }] };
  expect(coverageChart([], { coverage }, now).series).toHaveLength(1);
});

it("requests are shown for at most sixty days, with the days without any", () => {
  const chart = requestsChart([{ day: today - 100 * dayMillis, counted: 9, brasCovered: 0 }], null, now);
  expect(chart.series[0]?.points).toHaveLength(60);
  expect(chart.limits).toBeUndefined();
});

it("the allowance is a line beside the requests, unless it is more than twenty times as high", () => {
  const days = [{ day: today, counted: 15, brasCovered: 0 }];
  expect(requestsChart(days, 300, now).limits).toEqual([{ label: "allowance 300", y: 300 }]);
  const chart = requestsChart(days, 301, now);
  expect([chart.limits, chart.summary]).toEqual([
    undefined,
    "15 counted requests in 14 days, of an allowance of 301 a day.",
  ]);
});

it("the summary of ages counts the resources checked within a day", () => {
  const chart = agesChart([
    { label: "1 day", resources: 20_000 },
    { label: "older", resources: 1 },
  ]);
  expect(chart.summary).toBe("20,000 of 20,001 held resources were checked within a day.");
});

it("an answer with times is a line, one with names is bars, and one without numbers is no chart", () => {
  const times = {
    columns: ["day", "found"],
    rows: [["2026-11-01", 3] as const, ["2026-11-02", 5n] as const],
  };
  expect(answerChart(times)?.series[0]).toMatchObject({
    form: "line",
    points: [
      { x: Date.UTC(2026, 10, 1), y: 3 },
      { x: Date.UTC(2026, 10, 2), y: 5 },
    ],
  });
  const names = {
    columns: ["href", "name", "models"],
    rows: [["/a", "A", 3] as const, ["/b", "B", 4] as const],
  };
  expect(answerChart(names)?.series[0]?.points).toEqual([
    { x: "A", y: 3 },
    { x: "B", y: 4 },
  ]);
  const flags = { columns: ["name", "gone"], rows: [["A", 0] as const, ["B", 1] as const] };
  expect(answerChart(flags)).toBeNull();
  expect(answerChart({ columns: ["name"], rows: [["A"], ["B"]] })).toBeNull();
});

it("any answer is drawn or is no chart, without an error", async () => {
  const cell = fc.oneof(
    fc.constant(null),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.double({ noNaN: true }),
    hostileText,
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  );
  const answer = fc.integer({ min: 1, max: 4 }).chain((width) =>
    fc.record({
      columns: fc.array(hostileText, { minLength: width, maxLength: width }),
      rows: fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(answer, async (given) => {
      const chart = answerChart(given);
      if (chart !== null) expect(structureOf(String(await chartFigure(chart)))).toContain("svg");
    }),
    { numRuns: 100 },
  );
});

it("over a day or two, the marks of an axis are hours of 24, and values are those of the terminal", async () => {
  const points = [
    { x: Date.UTC(2026, 10, 25), y: 0 },
    { x: Date.UTC(2026, 10, 26, 13, 47), y: 0.5912 },
  ];
  const drawn = drawChart({
    ...{
      title: "Bras",
      summary: "",
      x: { label: "day", form: "time" },
      y: { label: "share", form: "share" },
    },
    series: [{ name: "so far", form: "line", points }],
  });
  expect(drawn).not.toMatch(/ [AP]M</);
  expect(drawn).toContain(">12:00<");
  expect(drawn).toContain("so far, 2026-11-26 13:47: 59 %");
});

it("a measurement is a chart once it has values on two days", () => {
  const answer = {
    columns: ["day", "underbust", "bust", "note", "href", "n"],
    rows: [
      ["2026-03-01", 72, "91.5", "x", "/m/1", 0] as const,
      ["2026-01-01", 70, null, null, "/m/2", 0] as const,
      [null, 71, 90, null, "/m/3", 0] as const,
      ["2026-02-01", null, "90", null, "/m/4", 0] as const,
    ],
  };
  expect(
    measurementCharts(answer).map(({ title, series }) => [title, series[0]?.points.map(({ y }) => y)]),
  ).toEqual([
    ["Underbust", [70, 72]],
    ["Bust", [90, 91.5]],
  ]);
});
