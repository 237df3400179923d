/** The sizes of a model, each with its labels in all sizing systems. */
import { html } from "hono/html";
import type { MirrorReader } from "../../../mirror/reader.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { describeListState } from "../../../query/lists/list-state.ts";
import { readModelLabels } from "../../../query/lists/size-matrix.ts";
import type { ModelParts } from "../../../query/model-parts.ts";
import type { Html } from "../../page.ts";
import { table } from "../lists/table.ts";
import { empty, shortfall } from "../states.ts";
import { nameOf, none, numberOf } from "../values.ts";

export function sizesTable(
  mirror: MirrorReader,
  modelId: number,
  { sizes, sizeList, brand }: ModelParts,
): Html {
  const own = brand?.system ?? null;
  const state = describeListState(sizeList, "sizes", sizes.length);
  if (sizes.length === 0) return empty(state === "" ? "No size of this model is known." : state);
  const labels = readModelLabels(mirror, modelId);
  const order = new Map(labels.map(({ href }, n) => [href, n]));
  const ownLabel = (system: string | null) => String(own ?? "").toUpperCase() === system?.toUpperCase();
  for (const [n, { href, system }] of labels.entries())
    if (ownLabel(system)) order.set(href, n - labels.length);
  const sorted = sizes.toSorted(
    (a, b) => (order.get(a.href) ?? labels.length) - (order.get(b.href) ?? labels.length),
  );
  const systems = [...new Set(labels.map(({ system }) => system))].filter(
    (system) => system !== null && !ownLabel(system),
  );
  return html`${shortfall([state, missingOf(sizes)])}${table({
    caption: "Sizes and their labels in other systems",
    columns: [
      { label: own === null ? "Size" : `Size (${own})` },
      ...systems.map((system) => ({ label: String(system) })),
      { label: "Bras owned", isNumber: true },
    ],
    rows: sorted.map(({ href, size, bra_count, state }) => [
      html`${nameOf(size)}${state === "held" ? "" : html` <span class="tag ${state}">${state === "gone" ? "gone" : "not fetched"}</span>`}`,
      ...systems.map((system) => {
        const found = labels.filter((label) => label.href === href && label.system === system);
        return found.length === 0 ? none() : found.map(({ label }) => label).join(", ");
      }),
      numberOf(bra_count),
    ]),
  })}`;
}

function missingOf(sizes: ModelParts["sizes"]): string {
  const listed = sizes.filter(({ state }) => state === "listed").length;
  return listed === 0
    ? ""
    : `${formatNumber(listed)} of ${formatCount(sizes.length, "known size")} not fetched yet.`;
}
