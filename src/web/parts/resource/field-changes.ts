/** Changed fields with their values before and after, side by side. */
import { html } from "hono/html";
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
<div><dt>${labelOf(field)}</dt><dd><span class="before"><span class="visually-hidden">before: </span>${fieldValueOf(kind, field, before)}</span><span class="to" aria-hidden="true">→</span><span class="after"><span class="visually-hidden">now: </span>${fieldValueOf(kind, field, after)}</span></dd></div>`,
  )}</dl>`;

/** A column's name in words. */
export const labelOf = (field: string): string =>
  field
    .replace(/_href$/, "")
    .replace(/^is_/, "")
    .replaceAll("_", " ");
