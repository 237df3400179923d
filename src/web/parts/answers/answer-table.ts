/** The first rows of an answer as a table: numbers aligned, URLs of brands, models and sizes as links, long texts cut. */
import { html } from "hono/html";
import { numberText } from "../../../../exports/formats/json.ts";
import type { Row } from "../../../../exports/formats/table.ts";
import type { Cell } from "../../../../schema/fields.ts";
import { type ResourceKey, readResourceKeys } from "../../../query/lists/resource-keys.ts";
import type { Html, View } from "../../page.ts";
import { table } from "../lists/table.ts";
import { externalLink, none, pathOf, resourceLink } from "../values.ts";

/** Of an answer, so that a page stays small. */
const maxCells = 600;
const minRows = 10;
export const maxRows = 100;
const maxLength = 200;

/** The rows that a page shows of those that were read. */
export const shownRows = (columns: readonly string[], rows: readonly Row[]): readonly Row[] =>
  rows.slice(0, Math.max(minRows, Math.floor(maxCells / Math.max(1, columns.length))));

export function answerTable(view: View, columns: readonly string[], rows: readonly Row[]): Html {
  const isAddress = columns.map((name) => /(^|_)href$/.test(name));
  const hrefs = rows.flatMap((row) => row.filter((cell, n) => isAddress[n] && typeof cell === "string"));
  const keys = readResourceKeys(view.mirror, [...new Set(hrefs.map(String))]);
  const isNumber = columns.map((_, n) => rows.every((row) => typeof row[n] !== "string"));
  const own = columns.indexOf("href");
  const keyOf = (row: Row) => keys.get(String(row[own] ?? ""));
  return table({
    caption: "Answer",
    columns: columns.map((label, n) => ({ label: cut(label), isNumber: isNumber[n] === true })),
    rows: rows.map((row) => [
      headingOf(view, row[0] ?? null, isAddress[0] ? keys : null, keyOf(row)),
      ...columns.slice(1).map((_, n) => cellOf(view, row[n + 1] ?? null, isAddress[n + 1] ? keys : null)),
    ]),
  });
}

/** A name leads to the page of its row: on a narrow screen, the address of the row is out of sight. */
const headingOf = (
  view: View,
  cell: Cell,
  keys: ReadonlyMap<string, ResourceKey> | null,
  key: ResourceKey | undefined,
): Html | string =>
  keys === null && key !== undefined && typeof cell === "string" && cell !== ""
    ? resourceLink(view, key, cut(cell))
    : cellOf(view, cell, keys);

function cellOf(view: View, cell: Cell, keys: ReadonlyMap<string, ResourceKey> | null): Html | string {
  if (cell === null) return none();
  if (typeof cell !== "string") return numberText(cell);
  const key = keys?.get(cell);
  if (key !== undefined)
    return html`<a href="${view.link(pathOf(key))}"><bdi>${cut(withoutBase(view, cell))}</bdi></a>`;
  if (cell === "") return html`<span class="none">empty text</span>`;
  return externalLink(cell, cut(cell));
}

const withoutBase = ({ mirror }: View, url: string): string =>
  url.startsWith(mirror.identity.baseUrl) ? url.slice(mirror.identity.baseUrl.length) : url;

function cut(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
