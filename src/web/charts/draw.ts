/**
 * Draws a chart as SVG text, on the server. In: plain data, whose texts may come from the service. Out: markup without
 * style elements, style attributes, scripts or links, as the content security policy of the pages wants; colors are
 * properties of the stylesheet. The libraries take time and memory, so this file is loaded with the first chart, and it imports
 * by name: the bundle leaves out the rest of them.
 */
import {
  barX,
  barY,
  dot,
  lineY,
  type Markish,
  type PlotOptions,
  plot,
  rectY,
  ruleX,
  ruleY,
  type ScaleOptions,
  text,
} from "@observablehq/plot";
import { formatLongNumber, formatNumber, formatPercent, isLargeNumber } from "../../presentation/numbers.ts";
import type { Axis, Chart, Series } from "./chart.ts";
import { SvgDocument, type SvgElement } from "./svg-document.ts";

/** Small, so that its text stays readable on a telephone; wider screens show charts side by side. */
const width = 360;
const height = 206;
/** The name of the vertical axis is above its greatest number. */
const marginTop = 26;
const rowHeight = 22;
/** Of a text beside a bar. */
const maxLabelLength = 20;
/** Of the name of an axis. */
const maxAxisLength = 40;

/** @returns an `svg` element */
export function drawChart(chart: Chart): string {
  const svg = plot({
    ...optionsOf(chart),
    document: new SvgDocument() as unknown as NonNullable<PlotOptions["document"]>,
  }) as unknown as SvgElement;
  svg.removeElements("style");
  // The drawing is one picture with one name; labels of its parts would not be read.
  for (const element of svg.elements())
    for (const name of ["aria-label", "style"]) element.removeAttribute(name);
  svg.setAttribute("class", "chart-drawing");
  svg.setAttribute("font-size", "12");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${chart.title}. ${chart.summary}`);
  return svg.outerHTML;
}

function optionsOf(chart: Chart): PlotOptions {
  const { x, y, series, limits = [] } = chart;
  const isList = x.form === "name";
  const values: ScaleOptions = {
    label: shorten(y.label, maxAxisLength),
    grid: true,
    nice: true,
    ...numberScale(chart),
  };
  const marks = [
    ...series.flatMap((one, n) => marksOf(one, chart, `var(--chart-${n + 1})`)),
    ...limits.flatMap((limit) => [
      ruleY([limit.y], { stroke: "var(--chart-limit)", strokeDasharray: "2,3" }),
      text([limit], {
        text: "label",
        y: "y",
        frameAnchor: "right",
        dy: -7,
        textAnchor: "end",
        fill: "var(--chart-limit)",
      }),
    ]),
  ];
  if (isList) {
    const names = series.flatMap(({ points }) => points.map((point) => point.x));
    return {
      width,
      height: 60 + rowHeight * names.length,
      marginBottom: 40,
      marginLeft: 14 + 7.5 * Math.min(maxLabelLength, longest(names)),
      x: values,
      y: { label: null, type: "band", domain: names, tickFormat: (name: unknown) => shorten(String(name)) },
      marks: [ruleX([0]), ...marks],
    } as PlotOptions;
  }
  return {
    width,
    height,
    marginTop,
    marginLeft: marginOf(chart),
    marginBottom: 38,
    x: {
      label: x.form === "day" || x.form === "time" ? null : shorten(x.label, maxAxisLength),
      ...positionScale(x, series),
    },
    y: {
      ...values,
      ticks: 5,
      zero: series.some(({ form }) => form === "bar"),
      // Without a length, bars of nothing would fill the chart.
      ...(greatest(chart) === 0 && { domain: [0, 1], ticks: 1 }),
    },
    marks: [ruleY([0]), ...marks].slice(series.every(({ form }) => form !== "bar") ? 1 : 0),
  } as PlotOptions;
}

/** The numbers of an axis are right of the edge. */
const marginOf = (chart: Chart): number =>
  chart.y.form === "share" ? 48 : Math.max(48, 18 + 7 * formatLongNumber(endOf(chart)).length);

/** An axis ends at a round number. */
const endOf = (chart: Chart): number => Math.ceil(1.2 * greatest(chart));

const greatest = ({ series, limits = [] }: Chart): number =>
  Math.max(
    ...series.flatMap(({ points }) => points.map(({ y }) => Math.abs(y ?? 0))),
    ...limits.map(({ y }) => y),
  );

/** Separators as in the texts around it, but in all numbers of an axis or in none. */
function numberScale(chart: Chart): ScaleOptions {
  if (chart.y.form === "share")
    return { domain: [0, 1], tickFormat: (share: number) => `${Math.round(share * 100)} %` };
  const format = isLargeNumber(endOf(chart)) ? formatLongNumber : formatNumber;
  return { tickFormat: (value: number) => format(value) };
}

function positionScale({ form }: Axis, series: readonly Series[]): ScaleOptions {
  if (form === "bucket") return { type: "band", domain: series[0]?.points.map(({ x }) => x) ?? [] };
  if (form === "number") return { type: "linear" };
  const times = series.flatMap(({ points }) => points.map(({ x }) => Number(x)));
  const isShort = Math.max(...times) - Math.min(...times) < shortMillis;
  return { type: "utc", ticks: 5, ...(isShort && form === "time" && { tickFormat: describeHour }) };
}

/** Over less time, the marks of an axis are hours. */
const shortMillis = 3 * 86_400_000;

/** Such as `18:00`, and `11-25` for midnight. */
const describeHour = (time: Date): string => {
  const [day = "", hour = ""] = time.toISOString().slice(0, 16).split("T");
  return hour === "00:00" ? day.slice(5) : hour;
};

function marksOf(
  { form, points, isForecast, name }: Series,
  { x: axis, y: values }: Chart,
  color: string,
): Markish[] {
  const isTime = axis.form === "time" || axis.form === "day";
  const data = points.map(({ x, y }) => ({ x: isTime ? new Date(x) : x, y: y ?? Number.NaN }));
  const title = ({ x, y }: (typeof data)[number]) =>
    `${name}, ${describePosition(x)}: ${values.form === "share" ? formatPercent(y) : formatLongNumber(y)}`;
  if (axis.form === "name") return [barX(data, { x: "y", y: "x", fill: color, title })];
  if (form === "bar") {
    if (axis.form === "bucket") return [barY(data, { x: "x", y: "y", fill: color, title })];
    return [rectY(data, { x: "x", y: "y", interval: "day", fill: color, title })];
  }
  if (form === "dots") return [dot(data, { x: "x", y: "y", fill: color, r: 2.5, title })];
  const broken = isForecast ? { strokeDasharray: "5,4" } : {};
  const curve = form === "step" ? "step-after" : "linear";
  const line = lineY(data, { x: "x", y: "y", stroke: color, strokeWidth: 2, curve, ...broken });
  // A line of one point would not be seen.
  return isForecast ? [line] : [line, dot(data, { x: "x", y: "y", fill: color, r: 2.5, title })];
}

const describePosition = (x: Date | number | string): string =>
  x instanceof Date ? x.toISOString().slice(0, 16).replace("T", " ").replace(" 00:00", "") : String(x);

/** One line, which controls and line ends would break. */
function shorten(text: string, maxLength = maxLabelLength): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}

const longest = (texts: readonly (string | number)[]): number =>
  Math.max(0, ...texts.map((text) => String(text).length));
