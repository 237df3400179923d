/** The dimensions of bras side by side: one table of all of them, and a few compared dimension by dimension. */
import { html } from "hono/html";
import type { Cell } from "../../../../schema/fields.ts";
import { formatLongNumber } from "../../../presentation/numbers.ts";
import { type Bra, dimensions } from "../../../query/lists/wardrobe.ts";
import { toNumber } from "../../charts/answer-charts.ts";
import type { Html } from "../../page.ts";
import { type Sorting, table } from "../lists/table.ts";
import { headingOf } from "../resource/field-changes.ts";
import { nameOf, none } from "../values.ts";
import { isGone } from "./summary.ts";

/** Only dimensions that one of the bras has. @param sorting default: the table cannot be sorted */
export function dimensionTable(bras: readonly Bra[], hrefOf: (bra: Bra) => string, sorting?: Sorting): Html {
  const shown = dimensions.filter((name) => bras.some(({ fields }) => fields[name] != null));
  const extremes = new Map(shown.map((name) => [name, name === "hooks" ? null : extremesOf(bras, name)]));
  return table({
    caption: "Bras with their dimensions in centimetres",
    columns: [
      { label: "Bra", sort: "name" },
      { label: "Size", sort: "size" },
      ...shown.map((name) => ({ label: headingOf(name), sort: name, isNumber: true, isAscending: true })),
    ],
    rows: bras.map((bra) => [
      html`<a href="${hrefOf(bra)}">${nameOf(bra.fields.name ?? null)}</a>${isGone(bra) ? html` <span class="tag gone">gone</span>` : ""}`,
      nameOf(bra.fields.size ?? null, ""),
      ...shown.map((name) => dimensionCell(bra.fields[name] ?? null, extremes.get(name))),
    ]),
    ...(sorting && { sorting }),
  });
}

interface Extremes {
  readonly least: number;
  readonly most: number;
}

/** Null where there is nothing to compare. */
function extremesOf(bras: readonly Bra[], name: string): Extremes | null {
  const values = bras.flatMap(({ fields }) => {
    const value = toNumber(fields[name] ?? null);
    return value === null ? [] : [value];
  });
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least < most ? { least, most } : null;
}

function dimensionCell(value: Cell, extremes: Extremes | null | undefined): Html | string {
  const number = toNumber(value);
  if (number === null) return value === null ? none() : nameOf(value);
  const shown = formatLongNumber(number);
  if (number === extremes?.least)
    return html`<span class="least">${shown}<span class="visually-hidden"> least</span></span>`;
  if (number === extremes?.most)
    return html`<span class="most">${shown}<span class="visually-hidden"> most</span></span>`;
  return shown;
}

/** A row for each dimension; for two bras, also the difference. */
export function dimensionComparison(bras: readonly Bra[], hrefOf: (bra: Bra) => string): Html {
  const shown = dimensions.filter((name) => bras.some(({ fields }) => fields[name] != null));
  const [first, second, ...others] = bras;
  const hasDifference = first !== undefined && second !== undefined && others.length === 0;
  return html`<div class="scroll" role="group" aria-label="Dimensions side by side" tabindex="0"><table class="list">
<caption class="visually-hidden">Dimensions side by side, in centimetres</caption>
<thead><tr><th scope="col">In centimetres</th>${bras.map(
    (bra) =>
      html`<th scope="col" class="number"><a href="${hrefOf(bra)}">${nameOf(bra.fields.name ?? null)}</a></th>`,
  )}${hasDifference ? html`<th scope="col" class="number">Difference</th>` : ""}</tr></thead>
<tbody>${shown.map(
    (name) => html`
<tr><th scope="row">${headingOf(name)}</th>${bras.map(
      ({ fields }) => html`<td class="number">${dimensionCell(fields[name] ?? null, null)}</td>`,
    )}${hasDifference ? html`<td class="number">${differenceOf(first.fields[name] ?? null, second.fields[name] ?? null)}</td>` : ""}</tr>`,
  )}
</tbody></table></div>`;
}

function differenceOf(first: Cell, second: Cell): Html | string {
  const [a, b] = [toNumber(first), toNumber(second)];
  if (a === null || b === null) return none();
  const difference = Number((b - a).toFixed(6));
  const sign = difference > 0 ? "+" : difference < 0 ? "−" : "";
  return sign + formatLongNumber(Math.abs(difference));
}
