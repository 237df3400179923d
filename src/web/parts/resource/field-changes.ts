/** Changed fields with their values before and after, side by side. */
import { html } from "hono/html";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { readableValue } from "../../../presentation/words.ts";
import type { FieldValue } from "../../../query/field-history.ts";
import type { Html } from "../../page.ts";
import { entryOf, type ListEntry, plainValueOf } from "../values.ts";

export interface ShownChange {
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
}

/** Addresses are no links here: there are many of them, and the page of the resource has the present one. */
export const fieldChanges = (kind: string, changes: readonly ShownChange[]): Html =>
  html`<dl class="changes">${changes.map(
    (change) => html`
<div><dt>${labelOf(change.field)}</dt><dd>${listChange(change) ?? valueChange(kind, change)}</dd></div>`,
  )}</dl>`;

const valueChange = (kind: string, { field, before, after }: ShownChange): Html =>
  html`<del>${plainValueOf(kind, field, before)}</del> <ins>${plainValueOf(kind, field, after)}</ins>${differenceOf(
    readableValue(kind, field, before),
    readableValue(kind, field, after),
  )}`;

/** Of two numbers, so that one need not subtract. Booleans are words here. */
function differenceOf(before: FieldValue, after: FieldValue): Html | string {
  if (!isNumber(before) || !isNumber(after)) return "";
  const difference = Number((Number(after) - Number(before)).toPrecision(12));
  if (difference === 0) return "";
  const [direction, sign] = difference > 0 ? ["more", "+"] : ["less", "−"];
  return html` <span class="difference ${direction}">${sign}${formatNumber(Math.abs(difference))}</span>`;
}

const isNumber = (value: FieldValue): boolean => typeof value === "number" || typeof value === "bigint";

/** Of two lists, only the entries that differ. Null for other values, and for lists that differ in their order alone. */
function listChange({ before, after }: ShownChange): Html | null {
  if (!isList(before) || !isList(after)) return null;
  const removed = entriesWithout(before, after);
  const added = entriesWithout(after, before);
  if (removed.length + added.length === 0) return null;
  const same = before.length - removed.length;
  return html`<ul class="plain">${removed.map((entry) => html`<li><del>${entryOf(entry)}</del></li>`)}${added.map(
    (entry) => html`<li><ins>${entryOf(entry)}</ins></li>`,
  )}</ul>${same === 0 ? "" : html`<span class="muted">${formatCount(same, "other")} unchanged</span>`}`;
}

const isList = (value: FieldValue): value is readonly ListEntry[] => Array.isArray(value);

function entriesWithout(all: readonly ListEntry[], others: readonly ListEntry[]): readonly ListEntry[] {
  const identityOf = (entry: ListEntry) =>
    JSON.stringify(Object.entries(entry).map(([name, cell]) => [name, typeof cell, String(cell)]));
  const known = new Set(others.map(identityOf));
  return all.filter((entry) => !known.has(identityOf(entry)));
}

/** A column's name in words. */
export const labelOf = (field: string): string =>
  field
    .replace(/_href$/, "")
    .replace(/^is_/, "")
    .replace(/(^|_)url$/, "$1URL")
    .replaceAll("_", " ");

/** The same as a heading. */
export function headingOf(field: string): string {
  const label = labelOf(field);
  return label.charAt(0).toUpperCase() + label.slice(1);
}
