/** The dimensions of bras side by side: one table of all of them, and a few compared dimension by dimension. */
import { html } from "hono/html";
import type { Cell } from "../../../../schema/fields.ts";
import { formatLongNumber } from "../../../presentation/numbers.ts";
import { type Bra, dimensions } from "../../../query/lists/wardrobe.ts";
import { toNumber } from "../../charts/answer-charts.ts";
import type { Html } from "../../page.ts";
import { type Sorting, table } from "../lists/table.ts";
import { headingOf } from "../resource/field-changes.ts";
import { aligned, decimalsOf, nameOf, none } from "../values.ts";
import { isGone } from "./summary.ts";

/** Only dimensions that one of the bras has. @param sorting default: the table cannot be sorted */
export function dimensionTable(bras: readonly Bra[], hrefOf: (bra: Bra) => string, sorting?: Sorting): Html {
  const shown = dimensions.filter((name) => bras.some(({ fields }) => fields[name] != null));
  const forms = new Map(shown.map((name) => [name, formOf(bras, name)]));
  return table({
    caption: "Bras with their dimensions in centimetres",
    columns: [
      { label: "Bra", sort: "name" },
      { label: "Size", sort: "size" },
      ...shown.map((name) => ({ label: headingOf(name), sort: name, isNumber: true, isAscending: true })),
    ],
    rows: bras.map((bra) => [
      html`<a href="${hrefOf(bra)}">${nameOf(bra.fields.name ?? null)}</a>${
        String(bra.fields.is_owned) === "0" ? html` <span class="tag">not owned</span>` : ""
      }${isGone(bra) ? html` <span class="tag gone">gone</span>` : ""}`,
      nameOf(bra.fields.size ?? null, ""),
      ...shown.map((name) =>
        dimensionCell(bra.fields[name] ?? null, forms.get(name) ?? { decimals: 0, extremes: null }),
      ),
    ]),
    ...(sorting && { sorting }),
  });
}

/** How the numbers of a column are shown. */
interface Form {
  readonly decimals: number;
  /** Null where there is nothing to compare. */
  readonly extremes: { readonly least: number; readonly most: number } | null;
}

const numbersOf = (cells: readonly Cell[]): number[] =>
  cells.map(toNumber).filter((number) => number !== null);

const decimalsIn = (cells: readonly Cell[]): number => decimalsOf(numbersOf(cells).map(formatLongNumber));

function formOf(bras: readonly Bra[], name: string): Form {
  const cells = bras.map(({ fields }) => fields[name] ?? null);
  const numbers = numbersOf(cells);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return {
    decimals: decimalsIn(cells),
    extremes: name !== "hooks" && least < most ? { least, most } : null,
  };
}

function dimensionCell(value: Cell, { decimals, extremes }: Form): Html | string {
  const number = toNumber(value);
  if (number === null) return value === null ? none() : nameOf(value);
  const text = aligned(formatLongNumber(number), decimals);
  const marked = (name: string) =>
    html`<span class="${name}">${text}<span class="visually-hidden"> ${name}</span></span>`;
  if (number === extremes?.least) return marked("least");
  return number === extremes?.most ? marked("most") : text;
}

/** A row for each dimension; for two bras, also the difference. */
export function dimensionComparison(bras: readonly Bra[], hrefOf: (bra: Bra) => string): Html {
  const shown = dimensions.filter((name) => bras.some(({ fields }) => fields[name] != null));
  const [first, second, ...others] = bras;
  const hasDifference = first !== undefined && second !== undefined && others.length === 0;
  return html`<div class="scroll few" role="group" aria-label="Dimensions side by side" tabindex="0"><table class="list">
<caption class="visually-hidden">Dimensions side by side, in centimetres</caption>
<thead><tr><th scope="col">Lengths in centimetres</th>${bras.map(
    (bra) =>
      html`<th scope="col" class="number"><a href="${hrefOf(bra)}">${nameOf(bra.fields.name ?? null)}</a></th>`,
  )}${hasDifference ? html`<th scope="col" class="number">Difference</th>` : ""}</tr></thead>
<tbody>${shown.map((name) => {
    const cells = bras.map(({ fields }) => fields[name] ?? null);
    const decimals = decimalsIn(cells);
    return html`
<tr><th scope="row">${headingOf(name)}</th>${cells.map(
      (cell) => html`<td class="number">${dimensionCell(cell, { decimals, extremes: null })}</td>`,
    )}${hasDifference ? html`<td class="number">${differenceOf(cells[0] ?? null, cells[1] ?? null, decimals)}</td>` : ""}</tr>`;
  })}
</tbody></table></div>`;
}

function differenceOf(first: Cell, second: Cell, decimals: number): Html | string {
  const [a, b] = [toNumber(first), toNumber(second)];
  if (a === null || b === null) return none();
  const difference = Number((b - a).toFixed(6));
  const sign = difference > 0 ? "+" : difference < 0 ? "−" : "";
  return sign + aligned(formatLongNumber(Math.abs(difference)), decimals);
}
