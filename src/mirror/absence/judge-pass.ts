/**
 * Is what the pages of a collection say one whole? In: its chain of pages as the mirror holds them. Out: the first thing
 * that keeps it from being one, or null. Pure.
 */

/** A page on the chain, from the first page on. */
export interface ChainPage {
  readonly id: number;
  /** The first page of the list that it is known to be a page of. */
  readonly collectionId: number;
  readonly nextId: number | null;
  readonly checkedRun: number;
  /** The revision that is current; null for a page that is not there. */
  readonly seq: number | null;
  readonly items: number;
  /** The collection's size as the page tells it; null where it tells none. */
  readonly total: number | null;
  readonly hasEtag: 0 | 1;
  /** The last request for it failed. */
  readonly isFailing: 0 | 1;
  /** It tells a size that is no number. */
  readonly hasOddTotal: 0 | 1;
  /** It names a next page that is not followed. */
  readonly cut: "page-loop" | "other" | null;
}

export interface Fault {
  /** For a person, such as "says 40, lists 39". */
  readonly detail: string;
  /** Items that move between two pages while they are read look like this: reading all of them again may mend it. */
  readonly mayHaveMoved: boolean;
}

/** @param repeated how many items the pages list more than once */
export function findFault(pages: readonly ChainPage[], repeated: number): Fault | null {
  const lasting = (detail: string): Fault => ({ detail, mayHaveMoved: false });
  const passing = (detail: string): Fault => ({ detail, mayHaveMoved: true });
  if (pages.some(({ isFailing }) => isFailing)) return lasting("a page of it could not be read");
  if (pages.some(({ collectionId }) => collectionId !== pages[0]?.id))
    return lasting("runs into another list");
  if (pages.at(-1)?.nextId !== null) return lasting("leads back to a page of its own");
  if (pages.some(({ cut }) => cut === "page-loop")) return passing("goes on without an item that is new");
  if (pages.some(({ cut }) => cut !== null)) return lasting("its next page cannot be followed");
  if (repeated > 0) return passing(`lists ${repeated} of its items more than once`);
  const held = pages.filter(({ seq }) => seq !== null);
  if (held.some(({ hasOddTotal }) => hasOddTotal)) return lasting("does not say how many it lists");
  const [total = null, ...others] = new Set(held.map((page) => page.total));
  const items = held.reduce((sum, page) => sum + page.items, 0);
  if (others.length > 0)
    return passing(`its pages say ${[total, ...others].map((one) => one ?? "nothing").join(" and ")}`);
  if (total !== null) return total === items ? null : passing(`says ${total}, lists ${items}`);
  return held.length < pages.length ? passing("leads to a page that is not there") : null;
}
