/** How many models of a brand come in each band and cup: a table whose cells are darker the more there are. */
import { html } from "hono/html";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import type { SizeMatrix } from "../../../query/lists/size-matrix.ts";
import type { Html } from "../../page.ts";

export interface HeatMapOptions {
  readonly matrix: SizeMatrix;
  /** Of all systems. */
  readonly systems: readonly SizeMatrix[];
  readonly chosen: { readonly band: number; readonly cup: string } | null;
  readonly systemHref: (system: string) => string;
  /** The address of the models in a cell, or of all if it is chosen already. */
  readonly cellHref: (band: number, cup: string) => string;
}

/** Shades from few to many. */
const shades = 7;

export function heatMap({ matrix, systems, chosen, systemHref, cellHref }: HeatMapOptions): Html {
  const { bands, cups, cells, system, otherModels } = matrix;
  const counts = new Map(cells.map(({ band, cup, models }) => [`${band} ${cup}`, models]));
  const most = Math.max(1, ...counts.values());
  return html`${systemLinks(systems, system, systemHref)}
<div class="scroll" role="group" aria-label="Models by band and cup" tabindex="0"><table class="heat">
<caption>Models by band and cup, ${system} sizes</caption>
<thead><tr><td></td>${cups.map((cup) => html`<th scope="col">${cup}</th>`)}</tr></thead>
<tbody>${bands.map(
    (band) => html`
<tr><th scope="row">${band}</th>${cups.map((cup) => {
      const models = counts.get(`${band} ${cup}`) ?? 0;
      if (models === 0) return html`<td></td>`;
      const isChosen = chosen?.band === band && chosen.cup === cup;
      return html`<td class="h${shadeOf(models, most)}"><a href="${cellHref(band, cup)}"${
        isChosen ? html` aria-current="true"` : ""
      }>${formatNumber(models)}</a></td>`;
    })}</tr>`,
  )}
</tbody></table></div>
<p class="hint">${formatCount(most, "model")} at most in a cell.${
    otherModels === 0
      ? ""
      : ` ${formatCount(otherModels, "model has", "models have")} labels that are not a number and a cup.`
  } A cell leads to its models.</p>`;
}

function systemLinks(
  systems: readonly SizeMatrix[],
  shown: string,
  hrefOf: (system: string) => string,
): Html | string {
  if (systems.length < 2) return "";
  return html`<nav class="tabs" aria-label="Sizing systems"><ul>${systems.map(
    ({ system }) =>
      html`<li><a href="${hrefOf(system)}"${system === shown ? html` aria-current="true"` : ""}>${system}</a></li>`,
  )}</ul></nav>`;
}

/** Up to this many, each count has its share of the shades. */
const fewModels = 12;

/** Of many, by the square root, so that small counts differ too. */
function shadeOf(models: number, most: number): number {
  if (most === 1) return 2;
  const share = (models - 1) / (most - 1);
  return 1 + Math.round((shades - 1) * (most > fewModels ? Math.sqrt(share) : share));
}
