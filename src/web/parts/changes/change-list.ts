/** Changes between two states, grouped by brand; of very many the first ones, their number, and where all of them are. */
import { html } from "hono/html";
import { type Change, count, type Totals } from "../../../change/change.ts";
import type { Keyed } from "../../../change/keys.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { formatKind } from "../../../presentation/words.ts";
import type { Html, View } from "../../page.ts";
import { empty } from "../states.ts";
import { changesByBrand } from "./changes-by-brand.ts";

export interface FoundChanges {
  readonly first: readonly Keyed<Change>[];
  /** Of all changes; null if there are too many to count. */
  readonly totals: Totals | null;
}

const maxShown = 100;
/** Counting more of them would make the page slow. */
const maxCounted = 1000;

/** @param isFirst whether there is no run before it: then only those that are shown are read, since usually all are very many */
export function readFirst(changes: Iterable<Keyed<Change>>, isFirst: boolean): FoundChanges {
  const first: Keyed<Change>[] = [];
  const totals: Totals = {};
  let counted = 0;
  for (const change of changes) {
    counted++;
    if (counted > (isFirst ? maxShown : maxCounted)) return { first, totals: null };
    if (counted <= maxShown) first.push(change);
    count(totals, change);
  }
  return { first, totals };
}

export interface ChangeListOptions {
  readonly emptyText: string;
  /** Said instead of totals if there are too many changes to count. */
  readonly uncounted: string;
  /** The address of all changes as CSV. */
  readonly allHref: string;
}

export function changeList(view: View, found: FoundChanges, options: ChangeListOptions): Html {
  const { first, totals } = found;
  if (first.length === 0) return empty(options.emptyText);
  const all = totals === null ? null : numberOf(totals);
  const note =
    all === first.length
      ? ""
      : html`<p class="note" role="note">These are the first ${formatNumber(first.length)}${all === null ? "" : ` of ${formatNumber(all)}`} changes, brands first. <a href="${options.allHref}" download>All changes as CSV</a></p>`;
  return html`<p class="count">${totals === null ? options.uncounted : totalsOf(totals)}</p>
${note}
${changesByBrand(view, first)}`;
}

const numberOf = (totals: Totals): number =>
  Object.values(totals)
    .flatMap((counts) => Object.values(counts))
    .reduce((sum, number) => sum + number, 0);

/** Such as `1 model added, 3 sizes changed`. */
const totalsOf = (totals: Totals): string =>
  Object.entries(totals)
    .flatMap(([kind, counts]) =>
      Object.entries(counts).map(([word, number]) => `${formatCount(number, formatKind(kind))} ${word}`),
    )
    .join(", ");
