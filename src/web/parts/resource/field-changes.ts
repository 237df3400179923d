/** Changed fields with their values before and after, side by side. */
import { html } from "hono/html";
import { formatNumber } from "../../../presentation/numbers.ts";
import type { FieldValue } from "../../../query/field-history.ts";
import type { Html } from "../../page.ts";
import { fieldValueOf } from "../values.ts";

export interface ShownChange {
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
}

export const fieldChanges = (kind: string, changes: readonly ShownChange[]): Html =>
  html`<dl class="changes">${changes.map(
    ({ field, before, after }) => html`
<div><dt>${labelOf(field)}</dt><dd><span class="before"><span class="visually-hidden">before: </span>${fieldValueOf(kind, field, before)}</span><span class="to" aria-hidden="true">→</span><span class="after"><span class="visually-hidden">now: </span>${fieldValueOf(kind, field, after)}</span>${differenceOf(before, after)}</dd></div>`,
  )}</dl>`;

/** Of two numbers, so that one need not subtract. */
function differenceOf(before: FieldValue, after: FieldValue): Html | string {
  if (typeof before !== "number" || typeof after !== "number" || before === after) return "";
  const difference = Number((after - before).toPrecision(12));
  const sign = difference > 0 ? "+" : "−";
  return html` <span class="difference ${difference > 0 ? "more" : "less"}">${sign}${formatNumber(Math.abs(difference))}</span>`;
}

/** A column's name in words. */
export const labelOf = (field: string): string =>
  field
    .replace(/_href$/, "")
    .replace(/^is_/, "")
    .replaceAll("_", " ");
