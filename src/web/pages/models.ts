/** `/models`: all models that are held. */
import { html } from "hono/html";
import { modelList } from "../../query/lists/catalogue-lists.ts";
import { readListRows } from "../../query/lists/list.ts";
import type { Page, View } from "../page.ts";
import { listSection } from "../parts/lists/list-page.ts";
import { readListState } from "../parts/lists/list-state.ts";
import { modelCells, modelColumns } from "../parts/lists/model-table.ts";
import { wholeness } from "../parts/states.ts";

const stateOf = (view: View) => readListState(view, modelList, { sort: "bra_count", isDescending: true });

export const modelsPage: Page = {
  path: "/models",
  navigation: "Models",
  render(view) {
    const body = html`<h1>Models</h1>
${wholeness(view, ["model"])}
${listSection(view, {
  list: modelList,
  state: stateOf(view),
  noun: "model",
  pageSize: 100,
  emptyText: "No model is held yet.",
  facets: {
    type: "Type",
    discontinued: "Discontinued",
    system: "Sizing system",
    gone: "At the service",
  },
  columns: modelColumns(true),
  cellsOf: (cell) => modelCells(view, cell, null),
})}`;
    return { title: "Models", body };
  },
  rows: (view) => ({
    name: "models",
    from: ["model"],
    columns: Object.keys(modelList.columns),
    rows: () => readListRows(view.mirror, modelList, stateOf(view).request),
  }),
};
