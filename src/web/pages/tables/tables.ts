/** `/tables`: the tables that statements can read. */
import { html } from "hono/html";
import { formatNumber } from "../../../presentation/numbers.ts";
import type { Page } from "../../page.ts";
import { table } from "../../parts/lists/table.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { withCode } from "../../parts/states.ts";
import { none } from "../../parts/values.ts";

export const tablesPage: Page = {
  path: "/tables",
  render(view) {
    const body = html`${sectionTabs(view, "questions")}
<h1>Tables</h1>
${table({
  caption: "Tables",
  columns: [{ label: "Table" }, { label: "Content" }, { label: "Rows", isNumber: true }],
  rows: view
    .slow("tables")
    .map(({ table: name, about, rows }) => [
      html`<a class="code" href="${view.link(`/tables/${name}`)}">${name}</a>`,
      html`<span class="prose">${withCode(about)}</span>`,
      rows === null ? none() : formatNumber(rows),
    ]),
})}
<p class="hint">Only rows of stored tables are counted here. The others are computed from them.</p>`;
    return { title: "Tables", body };
  },
  rows(view) {
    const tables = view.slow("tables");
    return {
      name: "tables",
      columns: ["table", "about", "rows"],
      rows: () => tables.map(({ table: name, about, rows }) => [name, about, rows]),
    };
  },
};
