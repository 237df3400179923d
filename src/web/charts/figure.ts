/** A chart in a page: its caption, the drawing, and its numbers as a table beneath it. */
import { html, raw } from "hono/html";
import { messageOf } from "../../platform/errors.ts";
import { formatLongNumber, formatPercent } from "../../presentation/numbers.ts";
import { utcMinute } from "../../presentation/times.ts";
import { type Chart, hasPoints, type Point } from "./chart.ts";
import { drawingOf } from "./drawings.ts";

/** @returns an empty text if there is nothing to see, and a sentence if the chart cannot be drawn */
export async function chartFigure(chart: Chart) {
  if (!hasPoints(chart)) return "";
  try {
    return await figureOf(chart);
  } catch (error) {
    // A template awaits its charts one after the other: an error of one that it does not await yet would end the process.
    return html`<figure class="chart"><figcaption><strong><bdi>${chart.title}</bdi></strong>
<span>This chart cannot be drawn: ${messageOf(error)}.</span></figcaption></figure>`;
  }
}

async function figureOf(chart: Chart) {
  const drawing = await drawingOf(chart);
  const { title, summary, series } = chart;
  const isLabelled = series.length > 1;
  return html`<figure class="chart">
<figcaption><strong><bdi>${title}</bdi></strong> <span>${summary}</span>${
    isLabelled
      ? html`<ul class="chart-keys">${series.map(
          ({ name, isForecast = false }, n) =>
            html`<li class="chart-key-${n + 1}${isForecast ? " forecast" : ""}"><bdi>${name}</bdi></li>`,
        )}</ul>`
      : ""
  }</figcaption>
${raw(drawing)}
${numbersOf(chart)}
</figure>`;
}

/** A row for each position, a column for each series. */
function numbersOf(chart: Chart) {
  const { title, x, series } = chart;
  const positions = [...new Set(series.flatMap(({ points }) => points.map((point) => point.x)))];
  if (x.form !== "bucket" && x.form !== "name") positions.sort((a, b) => Number(a) - Number(b));
  const values = series.map(({ points }) => new Map(points.map((point) => [point.x, point.y])));
  return html`<details><summary>Numbers<span class="visually-hidden"> of ${title}</span></summary>
<div class="scroll"><table class="list">
<thead><tr><th scope="col">${x.label}</th>${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>${positions.map(
    (position) => html`
<tr><th scope="row">${describePosition(chart, position)}</th>${values.map(
      (column) => html`<td class="number">${describeValue(chart, column.get(position) ?? null)}</td>`,
    )}</tr>`,
  )}
</tbody></table></div></details>`;
}

function describePosition({ x }: Chart, position: Point["x"]): string {
  if (typeof position === "string") return position;
  if (x.form === "number") return formatLongNumber(position);
  const iso = new Date(position).toISOString();
  return iso.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : utcMinute(iso);
}

function describeValue({ y }: Chart, value: number | null): string {
  if (value === null) return "";
  return y.form === "share" ? formatPercent(value) : formatLongNumber(value);
}
