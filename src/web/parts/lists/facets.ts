/** Facets of a list: links that narrow it, with the number of rows behind each. */
import { html } from "hono/html";
import type { Cell } from "../../../../schema/fields.ts";
import { formatNumber } from "../../../presentation/numbers.ts";
import type { FacetValue } from "../../../query/lists/list.ts";
import type { Html } from "../../page.ts";
import { nameOf } from "../values.ts";

export interface FacetOptions {
  readonly label: string;
  readonly values: readonly FacetValue[];
  /** Undefined for all values. */
  readonly chosen: Cell | undefined;
  /** @param value undefined for all */
  readonly hrefOf: (value: Cell | undefined) => string;
}

const maxValues = 12;

export function facets(all: readonly FacetOptions[]): Html | string {
  const shown = all.filter(({ values, chosen }) => values.length > 1 || chosen !== undefined);
  return shown.length === 0
    ? ""
    : html`<aside class="facets" id="facets" aria-label="Filters">${shown.map(facet)}</aside>`;
}

function facet({ label, values, chosen, hrefOf }: FacetOptions): Html {
  const isChosen = (value: Cell) => chosen !== undefined && String(value) === String(chosen);
  const listed = values.filter(({ value }, n) => n < maxValues || isChosen(value));
  return html`<section><h2>${label}</h2><ul>${listed.map(
    ({ value, count }) => html`
<li><a href="${hrefOf(isChosen(value) ? undefined : value)}"${isChosen(value) ? html` aria-current="true"` : ""}><span class="value">${nameOf(
      value,
      "not given",
    )}</span> <span class="number">${formatNumber(count)}</span></a></li>`,
  )}</ul>${
    listed.length < values.length
      ? html`<p class="hint">and ${formatNumber(values.length - listed.length)} more</p>`
      : ""
  }</section>`;
}
