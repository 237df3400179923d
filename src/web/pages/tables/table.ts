/** `/tables/NAME`: what a table and its columns mean. */
import { html } from "hono/html";
import type { TableDescription } from "../../../../schema/dictionary/describe-table.ts";
import { similarNames } from "../../../platform/text/fuzzy-names.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import { listDescribedTables, readDescribedTable } from "../../../query/lists/described-tables.ts";
import type { Html, Page, PageContent, View } from "../../page.ts";
import { table } from "../../parts/lists/table.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { withCode } from "../../parts/states.ts";

export const tablePage: Page = {
  path: "/tables/:name",
  render(view) {
    const found = tableOf(view);
    return found === null ? unknown(view) : show(view, found);
  },
  rows(view) {
    const found = tableOf(view);
    return (
      found && {
        name: found.table,
        columns: ["name", "type", "about"],
        rows: () => found.columns.map(({ name, type, about }) => [name, type, about]),
        document: found,
      }
    );
  },
};

function tableOf({ mirror, parameters }: View): TableDescription | null {
  const found = readDescribedTable(mirror, parameters.name ?? "");
  return found === null || found.columns.length === 0 ? null : found;
}

const maxRows = 1000;

function show(view: View, found: TableDescription): PageContent {
  const { table: name, about, key, references, columns } = found;
  const rows = view.slow("tables").find(({ table: other }) => other === name)?.rows ?? null;
  const selectAll = `select * from ${name} limit ${maxRows}`;
  const body = html`${sectionTabs(view, "questions")}
<h1>${name}</h1>
<p class="prose">${withCode(about)}</p>
<p class="hint">${rows === null ? "" : html`${formatCount(rows, "row")}. `}<a href="${view.link("/sql", { q: selectAll })}">See rows</a>${
    key.length === 0 ? "" : html` · Key: <span class="code">${key.join(", ")}</span>`
  }</p>
${table({
  caption: "Columns",
  columns: [{ label: "Column" }, { label: "Type" }, { label: "Meaning" }],
  rows: columns.map((column) => [
    html`<span class="code">${column.name}</span>`,
    column.type,
    html`<span class="prose">${withCode(column.about)}${referenceOf(view, references[column.name])}</span>`,
  ]),
})}`;
  return { title: `${name} · Tables`, body };
}

const referenceOf = (view: View, to: string | undefined): Html | string =>
  to === undefined
    ? ""
    : html` <span class="muted">· href of <a href="${view.link(`/tables/${to}`)}">${to}</a></span>`;

function unknown(view: View): PageContent {
  const names = listDescribedTables(view.mirror).map(({ table: name }) => name);
  const similar = similarNames(view.parameters.name ?? "", names, 3);
  const body = html`<div class="problem"><h1>There is no table of this name</h1>
<p>${
    similar.length === 0
      ? ""
      : html`Did you mean ${similar.map((one, n) => html`${n === 0 ? "" : " or "}<a href="${view.link(`/tables/${one}`)}">${one}</a>`)}? `
  }<a href="${view.link("/tables")}">All tables</a></p></div>`;
  return { title: "Not found", body, status: 404, hasRows: false };
}
