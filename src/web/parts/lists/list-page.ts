/** A page that is one list: a text filter, facets, a table that sorts, and links to more. */
import { html } from "hono/html";
import type { Row } from "../../../../exports/formats/table.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import { countFacetGroups, facetsOf, type List, readListPage } from "../../../query/lists/list.ts";
import type { Html, View } from "../../page.ts";
import { empty } from "../states.ts";
import { facets } from "./facets.ts";
import { facetOf, type ListState } from "./list-state.ts";
import { type Column, pager, table, writePageKey } from "./table.ts";

export interface ListPageOptions {
  readonly list: List;
  readonly state: ListState;
  /** The singular. */
  readonly noun: string;
  readonly columns: readonly Column[];
  /** The cells of a row by the names of the list's columns. */
  readonly cellsOf: (cell: (name: string) => Row[number]) => readonly (Html | string)[];
  /** Labels of facets by name, in order. */
  readonly facets: Readonly<Record<string, string>>;
  /** Shown when the list is empty without any filter. */
  readonly emptyText: string;
  readonly pageSize: number;
}

export function listSection(view: View, options: ListPageOptions): Html {
  const { list, state, noun, columns, cellsOf, pageSize } = options;
  const { request, sorting, hrefOf, text } = state;
  const page = readListPage(view.mirror, list, request, pageSize);
  const { from, facets: ofList } = list;
  const count = () => countFacetGroups(view.mirror, list, request);
  // The rows of a brand, with words or of a size are few, and counted fast.
  const groups = request.ids
    ? count()
    : request.where === undefined
      ? view.slow("facets", { from, facets: ofList })
      : view.recent(`facets ${from} ${request.where}`, count);
  const counts = facetsOf(list, request, groups);
  const places = new Map(page.columns.map((name, n) => [name, n]));
  const rows = page.rows.map((row) => cellsOf((name) => row[places.get(name) ?? -1] ?? null));
  const hasFilter = text !== "" || Object.keys(options.facets).some((name) => view.query.has(name));
  const filters = facets(
    Object.entries(options.facets).map(([name, label]) =>
      facetOf(list, state, name, label, counts.facets[name] ?? []),
    ),
  );
  return html`<div class="${filters === "" ? "without-facets" : "with-facets"}">
<div class="main-column">
${filterForm(view, options)}
<p class="count" aria-live="polite">${formatCount(counts.total, noun)}${hasFilter ? html` · <a href="${view.link(view.path)}">Clear the filters</a>` : ""}${filters === "" ? "" : html`<span class="to-facets"> · <a href="#facets">More filters</a></span>`}</p>
${
  rows.length === 0
    ? empty(hasFilter ? `No ${noun} has all of this.` : options.emptyText)
    : table({ caption: `${noun}s`, columns, rows, sorting })
}
${pager({
  shown: rows.length,
  total: counts.total,
  noun,
  isLater: request.after !== null && request.after !== undefined,
  firstHref: hrefOf({}),
  nextHref: page.next === null ? null : hrefOf({ after: writePageKey(page.next) }),
})}
</div>
${filters}
</div>`;
}

/** Keeps the order and the facets. */
function filterForm(view: View, { noun, state }: ListPageOptions): Html {
  const kept = [...view.query].filter(([name]) => name !== "q" && name !== "after");
  return html`<form class="filter" action="${view.path}" role="search" aria-label="Filter of this list">
<input type="search" name="q" value="${state.text}" placeholder="Words of a ${noun}'s name" aria-label="Only ${noun}s with these words" autocomplete="off">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button>Filter</button></form>`;
}
