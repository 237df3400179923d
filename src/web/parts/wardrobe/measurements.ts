/** Measurements over time: a chart for each, and all of their values as a table. */
import { html } from "hono/html";
import type { Measurements } from "../../../query/lists/wardrobe.ts";
import { measurementCharts } from "../../charts/answer-charts.ts";
import { chartFigure } from "../../charts/figure.ts";
import type { Html } from "../../page.ts";
import { table } from "../lists/table.ts";
import { headingOf } from "../resource/field-changes.ts";
import { empty } from "../states.ts";
import { nameOf, none, numberOf } from "../values.ts";

/** Empty unless something was measured at two or more days. */
export async function measurementFigures(measurements: Measurements): Promise<Html> {
  const figures = await Promise.all(measurementCharts(measurements).map(chartFigure));
  return html`<div class="charts">${figures}</div>`;
}

/** The newest first. */
export function measurementTable({ columns, rows }: Measurements): Html {
  if (rows.length === 0) return empty("There are no measurements.");
  return table({
    caption: "Measurements, the newest first",
    columns: columns.map((name, n) => ({ label: headingOf(name), isNumber: n > 0 })),
    rows: rows
      .toReversed()
      .map((cells) =>
        cells.map((cell, n) =>
          n === 0
            ? html`<span class="date">${nameOf(cell, "no day")}</span>`
            : cell === null
              ? none()
              : numberOf(cell),
        ),
      ),
  });
}
