/** `/brands`: all brands that are held. */
import { html } from "hono/html";
import { brandList } from "../../query/lists/catalogue-lists.ts";
import { readListRows } from "../../query/lists/list.ts";
import { keyOf } from "../../query/lists/resource-keys.ts";
import type { Page, View } from "../page.ts";
import { listSection } from "../parts/lists/list-page.ts";
import { readListState } from "../parts/lists/list-state.ts";
import { wholeness } from "../parts/states.ts";
import { nameOf, numberOf, resourceLink } from "../parts/values.ts";

const stateOf = (view: View) => readListState(view, brandList, { sort: "bra_count", isDescending: true });

export const brandsPage: Page = {
  path: "/brands",
  navigation: "Brands",
  render(view) {
    const body = html`<h1>Brands</h1>
${wholeness(view, ["brand"])}
${listSection(view, {
  list: brandList,
  state: stateOf(view),
  noun: "brand",
  pageSize: 100,
  emptyText: "No brand is held yet.",
  facets: { system: "Sizing system", gone: "At the service" },
  columns: [
    { label: "Brand", sort: "name" },
    { label: "System", sort: "system", isMinor: true },
    { label: "Models", sort: "models", isNumber: true },
    { label: "Bras owned", sort: "bra_count", isNumber: true },
    { label: "Modified", sort: "last_modified_at", isMinor: true },
  ],
  cellsOf: (cell) => [
    html`${resourceLink(view, { kind: "brand", brand: keyOf(cell("slug"), cell("href")) }, cell("name"))}${
      cell("gone_at") === null ? "" : html` <span class="tag gone">gone</span>`
    }`,
    nameOf(cell("system"), "–"),
    numberOf(cell("models")),
    numberOf(cell("bra_count")),
    html`<span class="muted date">${String(cell("last_modified_at") ?? "").slice(0, 10)}</span>`,
  ],
})}`;
    return { title: "Brands", body };
  },
  rows: (view) => ({
    name: "brands",
    from: ["brand"],
    columns: Object.keys(brandList.columns),
    rows: () => readListRows(view.mirror, brandList, stateOf(view).request),
  }),
};
