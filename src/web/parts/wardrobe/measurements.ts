/** Measurements over time: a chart for each, and all of their values as a table. */
import { html } from "hono/html";
import type { Cell } from "../../../../schema/fields.ts";
import { formatNumber } from "../../../presentation/numbers.ts";
import type { Measurements } from "../../../query/lists/wardrobe.ts";
import { measurementCharts } from "../../charts/answer-charts.ts";
import { chartFigure } from "../../charts/figure.ts";
import type { Html } from "../../page.ts";
import { table } from "../lists/table.ts";
import { headingOf } from "../resource/field-changes.ts";
import { empty } from "../states.ts";
import { aligned, decimalsOf, nameOf, none, numberOf } from "../values.ts";

/** Empty unless something was measured at two or more days. */
export async function measurementFigures(measurements: Measurements): Promise<Html> {
  const figures = await Promise.all(measurementCharts(measurements).map(chartFigure));
  return html`<div class="charts">${figures}</div>`;
}

/** The newest first. */
export function measurementTable({ columns, rows }: Measurements): Html {
  if (rows.length === 0) return empty("There are no measurements.");
  const decimals = columns.map((_, n) =>
    decimalsOf(
      rows
        .map((row) => row[n] ?? null)
        .filter(isNumber)
        .map(formatNumber),
    ),
  );
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
              : isNumber(cell)
                ? aligned(formatNumber(cell), decimals[n] ?? 0)
                : numberOf(cell),
        ),
      ),
  });
}

const isNumber = (cell: Cell): cell is number | bigint =>
  typeof cell === "number" || typeof cell === "bigint";
