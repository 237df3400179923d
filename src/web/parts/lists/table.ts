/** Tables whose headings sort, and the links between their pages. */
import { html } from "hono/html";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import type { PageKey } from "../../../query/lists/list.ts";
import type { Html } from "../../page.ts";

export interface Column {
  readonly label: string;
  /** The name that the list sorts by. Default: it does not sort. */
  readonly sort?: string;
  /** Numbers are aligned at their ends. Default: false. */
  readonly isNumber?: boolean;
  /** Whether the first click sorts from the least to the most. Default: not for numbers. */
  readonly isAscending?: boolean;
  /** Left out on narrow screens. Default: false. */
  readonly isMinor?: boolean;
}

export interface Sorting {
  readonly sort: string;
  readonly isDescending: boolean;
  /** The address of the same list in another order. */
  readonly hrefOf: (sort: string, isDescending: boolean) => string;
}

export interface TableOptions {
  readonly caption: string;
  readonly columns: readonly Column[];
  /** The first cell is the heading of its row. */
  readonly rows: readonly (readonly (Html | string)[])[];
  readonly sorting?: Sorting;
  /** For rows of long texts: on narrow screens each cell is a line of its own, with its label, and none is left out. Default: false. */
  readonly isStacked?: boolean;
}

export function table({ caption, columns, rows, sorting, isStacked = false }: TableOptions): Html {
  return html`<div class="scroll" role="group" aria-label="${caption}" tabindex="0"><table class="list${isStacked ? " stacked" : ""}"${roleOf("table", isStacked)}>
<caption class="visually-hidden">${caption}</caption>
<thead${roleOf("rowgroup", isStacked)}><tr${roleOf("row", isStacked)}>${columns.map((column) => headingOf(column, sorting))}</tr></thead>
<tbody${roleOf("rowgroup", isStacked)}>${rows.map(
    (cells) => html`
<tr${roleOf("row", isStacked)}>${cells.map((cell, n) => {
      const { label = "" } = columns[n] ?? {};
      const classes = classesOf(columns[n]);
      if (n === 0) return html`<th scope="row"${classes}${roleOf("rowheader", isStacked)}>${cell}</th>`;
      return isStacked
        ? html`<td${classes} role="cell" data-label="${label}">${cell}</td>`
        : html`<td${classes}>${cell}</td>`;
    })}</tr>`,
  )}
</tbody></table></div>`;
}

/** Where the parts of a table are drawn as blocks, browsers no longer report them as parts of one. */
const roleOf = (role: string, isStacked: boolean): Html | string => (isStacked ? html` role="${role}"` : "");

function headingOf(column: Column, sorting: Sorting | undefined): Html {
  const { sort, label, isNumber = false, isAscending = !isNumber } = column;
  if (sorting === undefined || sort === undefined)
    return html`<th scope="col"${classesOf(column)}>${label}</th>`;
  const isSorted = sorting.sort === sort;
  const href = sorting.hrefOf(sort, isSorted ? !sorting.isDescending : !isAscending);
  const order = sorting.isDescending ? "descending" : "ascending";
  const arrow = sorting.isDescending ? "↓" : "↑";
  return html`<th scope="col"${classesOf(column)}${isSorted ? html` aria-sort="${order}"` : ""}><a href="${href}">${label}${
    isSorted ? html`<span class="arrow" aria-hidden="true">${arrow}</span>` : ""
  }</a></th>`;
}

function classesOf({ isNumber = false, isMinor = false }: Partial<Column> = {}): Html | string {
  const names = [...(isNumber ? ["number"] : []), ...(isMinor ? ["minor"] : [])].join(" ");
  return names === "" ? "" : html` class="${names}"`;
}

export interface PagerOptions {
  readonly shown: number;
  /** Null if it is not known. */
  readonly total: number | null;
  readonly noun: string;
  /** Whether this is not the first page. */
  readonly isLater: boolean;
  readonly firstHref: string;
  /** Null on the last page. */
  readonly nextHref: string | null;
}

export function pager({ shown, total, noun, isLater, firstHref, nextHref }: PagerOptions): Html | string {
  if (!isLater && nextHref === null) return "";
  return html`<nav class="pager" aria-label="Pages of this list">
<p>${total === null ? formatCount(shown, noun) : `${formatNumber(shown)} of ${formatCount(total, noun)}`}</p>
${isLater ? html`<a class="button" href="${firstHref}">First page</a>` : ""}
${nextHref === null ? "" : html`<a class="button" rel="next" href="${nextHref}">Next page</a>`}
</nav>`;
}

/** The place after which a page begins, in a URL. */
export const writePageKey = (key: PageKey): string => JSON.stringify(key);

/** @returns null for a text that is no place */
export function readPageKey(text: string | null): PageKey | null {
  if (text === null) return null;
  try {
    const parsed: unknown = JSON.parse(text);
    if (!Array.isArray(parsed) || parsed.length !== 2) return null;
    const [value, id]: unknown[] = parsed;
    const isValue = value === null || typeof value === "string" || typeof value === "number";
    return isValue && Number.isSafeInteger(id) ? [value, Number(id)] : null;
  } catch {
    return null;
  }
}
