/** `/brand/SLUG`: one brand, the sizes that it covers, its models and its history. */
import { html } from "hono/html";
import { formatCount, formatNumber } from "../../presentation/numbers.ts";
import { readHistory } from "../../query/history.ts";
import { findResource } from "../../query/keys/resolve-key.ts";
import { modelList } from "../../query/lists/catalogue-lists.ts";
import type { List } from "../../query/lists/list.ts";
import { describeListState } from "../../query/lists/list-state.ts";
import { findBrandByKey, type KeyedResource, readResourceKeys } from "../../query/lists/resource-keys.ts";
import { findModelsWithSize, type SizeMatrix } from "../../query/lists/size-matrix.ts";
import { type HeldResource, readHeldResource, showResource } from "../../query/show.ts";
import type { Html, Page, PageResult, View } from "../page.ts";
import { listSection } from "../parts/lists/list-page.ts";
import { readListState } from "../parts/lists/list-state.ts";
import { modelCells, modelColumns } from "../parts/lists/model-table.ts";
import { facts } from "../parts/resource/facts.ts";
import { heatMap } from "../parts/resource/heat-map.ts";
import { timeline } from "../parts/resource/timeline.ts";
import { empty, shortfall, wholeness } from "../parts/states.ts";
import { nameOf, pathOf } from "../parts/values.ts";

export const brandPage: Page = {
  path: "/brand/:brand",
  render(view) {
    const brand = findBrandByKey(view.mirror, view.parameters.brand ?? "");
    return brand === null ? redirectToSimilar(view) : show(view, brand);
  },
  rows(view) {
    const shown = showResource(view.mirror, "brand", hrefOf(view));
    return {
      name: "brand",
      from: ["brand", "model", "size"],
      columns: Object.keys(shown.fields),
      rows: () => [Object.values(shown.fields)],
      document: shown,
    };
  },
};

/** @throws KeyError with suggestions if nothing has such a name */
function redirectToSimilar(view: View): PageResult {
  const { href } = findResource(view.mirror, "brand", view.parameters.brand ?? "");
  const key = readResourceKeys(view.mirror, [href]).get(href) ?? { kind: "brand", brand: href };
  return { redirect: view.link(pathOf(key)) };
}

function hrefOf(view: View): string {
  const key = view.parameters.brand ?? "";
  return findBrandByKey(view.mirror, key)?.href ?? findResource(view.mirror, "brand", key).href;
}

/** The sizing system of a brand's models is its own. */
const { system: _, ...facetsOfModels } = modelList.facets;
const modelsOfBrand: List = { ...modelList, facets: facetsOfModels };

function show(view: View, { id, href }: KeyedResource): PageResult {
  const shown = readHeldResource(view.mirror, "brand", href);
  const { fields } = shown;
  const isGone = fields.gone_at != null;
  const cell = chosenCell(view);
  const matrices = view.slow("sizes of a brand", id);
  const matrix = chosenMatrix(view, shown, matrices);
  const ids =
    cell === null || matrix === null
      ? null
      : findModelsWithSize(view.mirror, id, { system: matrix.system, ...cell });
  const state = readListState(
    view,
    modelsOfBrand,
    { sort: "bra_count", isDescending: true },
    { where: `t.brand_id = ${id}`, ids },
  );
  const body = html`<nav class="crumbs" aria-label="Breadcrumbs"><a href="${view.link("/brands")}">Brands</a></nav>
<div class="title"><h1>${nameOf(fields.name ?? null)}</h1>${isGone ? html`<span class="tag gone">gone</span>` : ""}</div>
${wholeness(view, ["brand", "model", "size"])}
<div class="columns">
<section aria-labelledby="sizes"><h2 id="sizes">Sizes</h2>
${
  matrix === null
    ? empty(isGone ? "The sizes of this brand are gone with it." : "No size of this brand is held yet.")
    : heatMap({
        ...{ systems: matrices, matrix, chosen: cell },
        systemHref: (other) => state.hrefOf({ system: other, band: null, cup: null }),
        cellHref: (band, cup) =>
          cell?.band === band && cell.cup === cup
            ? `${state.hrefOf({ system: matrix.system, band: null, cup: null })}#models`
            : `${state.hrefOf({ system: matrix.system, band, cup })}#models`,
      })
}
</section>
<section aria-labelledby="facts"><h2 id="facts">Facts</h2>${facts("brand", fields, ["name", "slug"])}</section>
</div>
<section aria-labelledby="models"><h2 id="models">Models${cell === null ? "" : html` <span class="muted">in ${matrix?.system ?? ""} ${cell.band}${cell.cup}</span>`}</h2>
${isGone ? "" : listNote(shown.brand)}${modelsOf(view, state, emptyTextOf(cell !== null, isGone))}
</section>
<section aria-labelledby="history"><h2 id="history">History</h2>${timeline(view, readHistory(view.mirror, "brand", href))}</section>`;
  return { title: String(fields.name ?? "Brand"), body };
}

function emptyTextOf(isOfCell: boolean, isGone: boolean): string {
  if (isOfCell) return "No model comes in this size.";
  return isGone
    ? "The models of this brand are gone with it: choose gone below At the service."
    : "No model of this brand is held yet.";
}

/** What is missing of this brand, whatever is missing of others. */
function listNote(parts: HeldResource["brand"]): Html | string {
  if (parts === undefined) return "";
  const {
    modelList,
    models: { known, held },
  } = parts;
  const missing =
    known === held
      ? ""
      : `${formatNumber(known - held)} of ${formatCount(known, "known model")} not fetched yet.`;
  return shortfall([describeListState(modelList, "models", known), missing]);
}

function modelsOf(view: View, state: ReturnType<typeof readListState>, emptyText: string): Html {
  return listSection(view, {
    list: modelsOfBrand,
    state,
    noun: "model",
    pageSize: 40,
    emptyText,
    facets: { type: "Type", discontinued: "Discontinued", gone: "At the service" },
    columns: modelColumns(false),
    cellsOf: (cell) => modelCells(view, cell, view.parameters.brand ?? ""),
  });
}

function chosenCell({ query }: View): { readonly band: number; readonly cup: string } | null {
  const band = query.get("band") ?? "";
  const cup = query.get("cup") ?? "";
  return /^\d{1,3}$/.test(band) && cup !== "" ? { band: Number(band), cup: cup.toUpperCase() } : null;
}

/** Of the system in the URL, or of the brand's own, or of that of the most models; null without any label. */
function chosenMatrix(
  { query }: View,
  { fields }: HeldResource,
  matrices: readonly SizeMatrix[],
): SizeMatrix | null {
  const found = [query.get("system"), fields.default_sizing_system]
    .map((name) =>
      String(name ?? "")
        .trim()
        .toUpperCase(),
    )
    .flatMap((name) => matrices.filter(({ system }) => system === name));
  return found[0] ?? matrices[0] ?? null;
}
