/** Reading what the mirror holds of a collection: its chain of pages, and what they list. */
import type { Connection } from "../file/connection.ts";

export interface ChainReader {
  /** The collections of these pages; of `unchanged` ones only where the last pass left something open. */
  collectionsOf(answered: readonly number[], unchanged: readonly number[]): number[];
  /** Whether a page of it was never fetched, or is to be fetched again. */
  hasDuePage(collectionId: number): boolean;
  /** From the first page on, as far as they lead. */
  pagesOf(collectionId: number): ChainPage[];
  /** How many items stand on these pages more than once. */
  countRepeated(pages: readonly ChainPage[]): number;
  /** What the collection owns and neither these pages nor another list of its kind names, unless it answered in this run. */
  unlistedBy(pages: readonly ChainPage[], collectionId: number, runId: number): Unlisted[];
}

export interface Unlisted {
  readonly id: number;
  /** A page that is no longer on the chain named it, perhaps after the chain was read. */
  readonly isDoubtful: 0 | 1;
}

export function prepareChainReader(db: Connection): ChainReader {
  const selectCollections = db
    .prepare<[string, string], number>(
      `select p.collection_id from json_each(?) j join _page p on p.id = j.value
       union select p.collection_id from json_each(?) j join _page p on p.id = j.value
       join _pass s on s.collection_id = p.collection_id`,
    )
    .pluck();
  // The newest page first: while a list is read for the first time, that is the one that is due.
  const selectDuePage = db.prepare<[number]>(
    `select 1 from _page p join _resource r on r.id = p.id where p.collection_id = ? and r.state = 'due'
     order by p.id desc limit 1`,
  );
  const selectPages = db.prepare<[number], ChainPage>(
    `with recursive chain (id) as (
       select ? union select p.next_id from chain join _page p on p.id = chain.id where p.next_id is not null
     )
     select p.id, p.collection_id as collectionId, p.next_id as nextId, p.total, r.checked_run as checkedRun,
       r.etag is not null as hasEtag, r.error is not null as isFailing,
       (select v.seq from _revision v where v.resource_id = p.id and v.to_run is null) as seq,
       (select count(*) from _member m where m.page_id = p.id) as items,
       exists (select 1 from _issue where resource_id = p.id and pointer = '/meta/collection_total') as hasOddTotal,
       (select iif(code = 'page-loop', code, 'other') from _issue
        where resource_id = p.id and pointer = '/meta/next' and p.next_id is null) as cut
     from chain join _page p on p.id = chain.id join _resource r on r.id = p.id`,
  );
  const countRepeated = db
    .prepare<[string], number>(
      `select count(*) from (
         select 1 from _member where page_id in (select value from json_each(?)) and item_id is not null
         group by item_id having count(*) > 1)`,
    )
    .pluck();
  const selectUnlisted = db.prepare<
    { collectionId: number; pages: string; runId: number; sinceRun: number },
    Unlisted
  >(
    `select r.id, exists (
         select 1 from _member m join _page p on p.id = m.page_id join _resource l on l.id = p.id
         where m.item_id = r.id and p.collection_id = :collectionId and l.last_checked_run >= :sinceRun) as isDoubtful
       from _resource r
       where r.owner_id = :collectionId and r.state in ('held', 'due', 'failed') and r.absent_by is null
         and r.checked_run < :runId and not exists (
           select 1 from _member m join _page p on p.id = m.page_id join _resource l on l.id = p.id
           where m.item_id = r.id and (p.id in (select value from json_each(:pages))
             or p.collection_id <> :collectionId and l.state = 'held'
               and l.kind = (select kind from _resource where id = :collectionId)))`,
  );

  return {
    collectionsOf: (answered, unchanged) =>
      selectCollections.all(JSON.stringify(answered), JSON.stringify(unchanged)),
    hasDuePage: (collectionId) => selectDuePage.get(collectionId) !== undefined,
    pagesOf: (collectionId) => selectPages.all(collectionId),
    countRepeated: (pages) => countRepeated.get(heldIds(pages)) ?? 0,
    unlistedBy(pages, collectionId, runId) {
      // What never changed since it was first read has listed nothing but what it lists.
      if (pages.every(({ seq }) => seq === 1)) return [];
      const sinceRun = Math.min(...pages.map(({ checkedRun }) => checkedRun));
      return selectUnlisted.all({ collectionId, pages: heldIds(pages), runId, sinceRun });
    },
  };
}

function heldIds(pages: readonly ChainPage[]): string {
  return JSON.stringify(pages.flatMap(({ id, seq }) => (seq === null ? [] : [id])));
}

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
export function findChainFault(pages: readonly ChainPage[], repeated: number): Fault | null {
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
