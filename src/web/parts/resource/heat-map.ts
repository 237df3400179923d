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
  const map = shadedTable({
    caption: `Models by band and cup, ${system} sizes`,
    columns: cups,
    rows: bands.map((band) => ({
      heading: String(band),
      counts: cups.map((cup) => counts.get(`${band} ${cup}`) ?? 0),
    })),
    cell(models, row, column) {
      const [band = 0, cup = ""] = [bands[row], cups[column]];
      const isChosen = chosen?.band === band && chosen.cup === cup;
      return html`<a href="${cellHref(band, cup)}"${isChosen ? html` aria-current="true"` : ""}>${formatNumber(models)}</a>`;
    },
  });
  return html`${systemLinks(systems, system, systemHref)}
${map}
<p class="hint">${formatCount(most, "model")} at most in a cell.${
    otherModels === 0
      ? ""
      : ` ${formatCount(otherModels, "model has", "models have")} labels that are not a number and a cup.`
  } A cell leads to its models.</p>`;
}

export interface ShadedTable {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly heading: string; readonly counts: readonly number[] }[];
  /** Default: the number. */
  readonly cell?: (count: number, row: number, column: number) => Html | string;
}

/** Counts by two names. Zeros are left out. */
export function shadedTable({ caption, columns, rows, cell = formatNumber }: ShadedTable): Html {
  const most = Math.max(1, ...rows.flatMap(({ counts }) => counts));
  return html`<div class="scroll" role="group" aria-label="${caption}" tabindex="0"><table class="heat">
<caption>${caption}</caption>
<thead><tr><td></td>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    ({ heading, counts }, row) => html`
<tr><th scope="row">${heading}</th>${counts.map((count, column) =>
      count === 0
        ? html`<td></td>`
        : html`<td class="h${shadeOf(count, most)}">${cell(count, row, column)}</td>`,
    )}</tr>`,
  )}
</tbody></table></div>`;
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
