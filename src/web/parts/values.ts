/** Single values in HTML: numbers, times, names, links. Numbers and times are those of the terminal. */
import { html } from "hono/html";
import type { Cell } from "../../../schema/fields.ts";
import { formatNumber } from "../../presentation/numbers.ts";
import { formatMinute, formatSecond } from "../../presentation/times.ts";
import { readableValue } from "../../presentation/words.ts";
import type { FieldValue } from "../../query/field-history.ts";
import type { ResourceKey } from "../../query/lists/resource-keys.ts";
import type { Html, View } from "../page.ts";

/** A moment that Armoire recorded, to the minute. @param at ISO 8601, UTC */
export const timeOf = (at: string): Html =>
  html`<time datetime="${at}" title="${formatSecond(at)}">${formatMinute(at)}</time>`;

/** The same as a day, where there is little room. */
export const dayOf = (at: string): Html =>
  html`<time datetime="${at}" title="${formatSecond(at)}">${formatMinute(at).slice(0, 10)}</time>`;

/** A text whose direction of writing stays within itself. */
export const nameOf = (text: Cell, otherwise = "unnamed"): Html =>
  text === null || text === ""
    ? html`<span class="none">${otherwise}</span>`
    : html`<bdi>${String(text)}</bdi>`;

export function numberOf(value: Cell): Html | string {
  if (value === null) return none();
  return typeof value === "string" ? html`<bdi>${value}</bdi>` : formatNumber(value);
}

export const none = (): Html =>
  html`<span class="none"><span aria-hidden="true">–</span><span class="visually-hidden">not given</span></span>`;

/** How many decimals the numbers of a column have at most. */
export const decimalsOf = (texts: readonly string[]): number =>
  Math.max(0, ...texts.map((text) => text.match(/^-?[\d,]+\.(\d+)$/)?.[1]?.length ?? 0));

/** With as many decimals as the other numbers of a column, so that the points are below each other. */
export function aligned(text: string, decimals: number): string {
  const missing = decimals - decimalsOf([text]);
  if (missing <= 0 || !/^-?[\d,.]+$/.test(text)) return text;
  return text + (missing === decimals ? "." : "") + "0".repeat(missing);
}

/** A value of a field, whatever it is. */
export const fieldValueOf = (kind: string, field: string, value: FieldValue): Html | string =>
  typeof value === "string" && isWebAddress(value) ? externalLink(value) : plainValueOf(kind, field, value);

/** Without links. */
export function plainValueOf(kind: string, field: string, value: FieldValue): Html | string {
  if (value === null) return none();
  if (typeof value === "object") return listOf(value);
  const readable = readableValue(kind, field, value);
  if (typeof readable !== "string") return formatNumber(readable);
  return readable === "" ? html`<span class="none">empty text</span>` : html`<bdi>${readable}</bdi>`;
}

/** An entry of a list that has a table of its own, such as a picture of a model. */
export type ListEntry = Readonly<Record<string, Cell>>;

const listOf = (entries: readonly ListEntry[]): Html =>
  html`<ul class="plain">${entries.map((entry) => html`<li>${entryOf(entry)}</li>`)}</ul>`;

export const entryOf = (entry: ListEntry): Html =>
  html`${Object.values(entry)
    .filter((cell) => cell !== null)
    .map((cell, n) => html`${n === 0 ? "" : ", "}<bdi>${String(cell)}</bdi>`)}`;

const isWebAddress = (text: string): boolean => /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);

/** A link out of the mirror: the browser follows it only when it is clicked, and without a referrer. */
export const externalLink = (address: string, label: string = address): Html =>
  isWebAddress(address)
    ? html`<a class="out" href="${address}" rel="noopener noreferrer external"><bdi>${label}</bdi></a>`
    : html`<bdi>${label}</bdi>`;

/** The path of the page of a brand or of a model. */
export function pathOf(key: ResourceKey): string {
  const brand = `/brand/${encodeURIComponent(key.brand)}`;
  return key.kind === "brand" ? brand : `${brand}/${encodeURIComponent(key.model)}`;
}

/** A name, as a link where the mirror has a page for it. */
export function resourceLink(
  view: Pick<View, "link">,
  key: ResourceKey | undefined,
  name: Cell,
  otherwise?: string,
): Html {
  const shown = nameOf(name, otherwise);
  return key === undefined ? shown : html`<a href="${view.link(pathOf(key))}">${shown}</a>`;
}
