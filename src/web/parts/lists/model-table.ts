/** Models as rows of a table, for lists of all models and of one brand's. */
import { html } from "hono/html";
import type { Row } from "../../../../exports/formats/table.ts";
import { keyOf } from "../../../query/lists/resource-keys.ts";
import type { Html, View } from "../../page.ts";
import { nameOf, numberOf, resourceLink } from "../values.ts";
import type { Column } from "./table.ts";

/** @param withBrand whether there is a column for it */
export function modelColumns(withBrand: boolean): readonly Column[] {
  return [
    { label: "Model", sort: "name" },
    ...(withBrand ? [{ label: "Brand", sort: "brand" }] : []),
    { label: "Type", sort: "type", isMinor: true },
    { label: "Sizes", sort: "sizes", isNumber: true, isMinor: true },
    { label: "Bras owned", sort: "bra_count", isNumber: true },
    { label: "Modified", sort: "last_modified_at", isMinor: true },
  ];
}

export function modelCells(
  view: View,
  cell: (name: string) => Row[number],
  brand: string | null,
): readonly (Html | string)[] {
  const brandKey = brand ?? keyOf(cell("brand_slug"), null);
  const hasBrand = brand !== null || cell("brand_slug") !== null;
  const key = { kind: "model", brand: brandKey, model: keyOf(cell("slug"), cell("href")) } as const;
  return [
    html`${resourceLink(view, hasBrand ? key : undefined, cell("name"))}${tagsOf(cell)}`,
    ...(brand === null
      ? [resourceLink(view, hasBrand ? { kind: "brand", brand: brandKey } : undefined, cell("brand"), "–")]
      : []),
    nameOf(cell("type"), "–"),
    numberOf(cell("sizes")),
    numberOf(cell("bra_count")),
    html`<span class="muted date">${String(cell("last_modified_at") ?? "").slice(0, 10)}</span>`,
  ];
}

function tagsOf(cell: (name: string) => Row[number]): Html {
  return html`${cell("gone_at") === null ? "" : html` <span class="tag gone">gone</span>`}${
    String(cell("is_discontinued")) === "1" ? html` <span class="tag">discontinued</span>` : ""
  }`;
}
