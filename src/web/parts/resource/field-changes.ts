/** Changed fields with their values before and after, side by side. */
import { html } from "hono/html";
import { formatNumber } from "../../../presentation/numbers.ts";
import type { FieldValue } from "../../../query/field-history.ts";
import type { Html } from "../../page.ts";
import { plainValueOf } from "../values.ts";

export interface ShownChange {
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
}

/** Addresses are no links here: there are many of them, and the page of the resource has the present one. */
export const fieldChanges = (kind: string, changes: readonly ShownChange[]): Html =>
  html`<dl class="changes">${changes.map(
    ({ field, before, after }) => html`
<div><dt>${labelOf(field)}</dt><dd><del>${plainValueOf(kind, field, before)}</del> <ins>${plainValueOf(kind, field, after)}</ins>${differenceOf(before, after)}</dd></div>`,
  )}</dl>`;

/** Of two numbers, so that one need not subtract. */
function differenceOf(before: FieldValue, after: FieldValue): Html | string {
  if (!isNumber(before) || !isNumber(after)) return "";
  const difference = Number((Number(after) - Number(before)).toPrecision(12));
  if (difference === 0) return "";
  const [direction, sign] = difference > 0 ? ["more", "+"] : ["less", "−"];
  return html` <span class="difference ${direction}">${sign}${formatNumber(Math.abs(difference))}</span>`;
}

const isNumber = (value: FieldValue): boolean => typeof value === "number" || typeof value === "bigint";

/** A column's name in words. */
export const labelOf = (field: string): string =>
  field
    .replace(/_href$/, "")
    .replace(/^is_/, "")
    .replaceAll("_", " ");
