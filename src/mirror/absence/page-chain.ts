/**
 * The pages of a collection as the mirror holds them: whether they form one consistent listing, whether that proves
 * the absence of former items, and which items it lacks.
 *
 * A listing is consistent if every page was read, every entry is a resource of the expected kind, and the totals and
 * addresses that its pages state agree with what was read. It proves an absence if, in addition, its pages state their
 * totals and no unknown address as their own, and the service itself sent them. Otherwise only the response to a request for
 * the item does.
 */
import { sql } from "kysely";
import type { PageTable } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { idsIn, idTable, q } from "../queries/query-builder.ts";

/** A page, by its position on the chain. */
export interface ChainPage {
  readonly id: number;
  /** The first page of the listing that it belongs to. */
  readonly collectionId: number;
  readonly nextId: number | null;
  readonly checkedRun: number;
  /** The current revision; null for a page that is gone. */
  readonly seq: number | null;
  readonly items: number;
  /** Entries without a usable address, of those that should have one. */
  readonly unusableEntries: number;
  /** Items that have another kind than those of this listing. */
  readonly foreignItems: number;
  /** The collection's size as stated by the page, or the number of items on the page; null if it states none. */
  readonly total: number | null;
  /** As the page states it: the number of pages, or of items on this page, or on a full one. */
  readonly pageTotal: number | null;
  readonly doubt: PageTable["doubt"];
  readonly hasEtag: 0 | 1;
  /** The last request for it failed. */
  readonly isFailing: 0 | 1;
  /** It states a size that is not a number. */
  readonly hasOddTotal: 0 | 1;
  /** Why its link to a next page is not followed, if so. */
  readonly cut: "page-loop" | "other" | null;
  /** Its body comes from a snapshot, and the service has not sent it itself. */
  readonly isLoaded: 0 | 1;
}

export interface ChainFault {
  /** For the user, such as "says 40, lists 39". */
  readonly detail: string;
  /** Items that move between pages while these are read have the same effect: a second reading may be consistent. */
  readonly mayBeTransient: boolean;
}

/**
 * The first inconsistency of a listing; null if there is none. Pure.
 * @param repeated the number of items that the pages list more than once
 */
export function findChainFault(pages: readonly ChainPage[], repeated: number): ChainFault | null {
  const permanent = (detail: string): ChainFault => ({ detail, mayBeTransient: false });
  const transient = (detail: string): ChainFault => ({ detail, mayBeTransient: true });
  if (pages.some(({ isFailing }) => isFailing)) return permanent("one of its pages failed");
  if (pages.some(({ collectionId }) => collectionId !== pages[0]?.id))
    return permanent("continues in another listing");
  if (pages.at(-1)?.nextId !== null) return permanent("its pages form a circle");
  if (pages.some(({ cut }) => cut === "page-loop")) return transient("continues without new items");
  if (pages.some(({ cut }) => cut !== null)) return permanent("the link to its next page is invalid");
  if (pages.some(({ doubt }) => doubt === "other-page"))
    return permanent("a page names the address of another resource as its own");
  const unusable = sumOf(pages, "unusableEntries");
  if (unusable > 0)
    return permanent(`has ${unusable} ${unusable === 1 ? "entry" : "entries"} without a usable address`);
  const foreign = sumOf(pages, "foreignItems");
  if (foreign > 0)
    return permanent(`lists ${foreign} ${foreign === 1 ? "resource" : "resources"} of another kind`);
  if (repeated > 0) return transient(`lists ${repeated} items more than once`);
  const held = pages.filter(({ seq }) => seq !== null);
  if (held.some(({ hasOddTotal }) => hasOddTotal)) return permanent("its collection_total is not a number");
  const [total = null, ...otherTotals] = new Set(held.map((page) => page.total));
  const items = sumOf(held, "items");
  const isTotalOfPages = statesOwnCounts(pages);
  if (otherTotals.length > 0 && !isTotalOfPages)
    return transient(`its pages say ${[total, ...otherTotals].map((n) => n ?? "nothing").join(" and ")}`);
  if (total !== null && !isTotalOfPages && total !== items) return transient(`says ${total}, lists ${items}`);
  if ((total === null || isTotalOfPages) && held.length < pages.length)
    return transient("links to a page that does not exist");
  const odd = held.find((page) => !hasPlausiblePageTotal(page, held) && !mayBePageSize(page));
  return odd === undefined ? null : transient(`says ${odd.pageTotal} pages, has ${held.length}`);
}

/** Whether a consistent listing proves that a former item which it lacks is gone. Pure. */
export function isProof(pages: readonly ChainPage[]): boolean {
  const held = pages.filter(({ seq }) => seq !== null);
  return (
    !statesOwnCounts(pages) &&
    held.every(
      (page) =>
        page.total !== null &&
        page.doubt === null &&
        page.isLoaded === 0 &&
        hasPlausiblePageTotal(page, held),
    )
  );
}

/** Some services state the number of items on the page: then the size of the list is unknown. */
function statesOwnCounts(pages: readonly ChainPage[]): boolean {
  return pages.length > 1 && pages.every(({ seq, total, items }) => seq === null || total === items);
}

/** Whether it counts the pages, all or those with items, or the items of the page. */
function hasPlausiblePageTotal({ pageTotal, items }: ChainPage, pages: readonly ChainPage[]): boolean {
  const filled = pages.filter((page) => page.items > 0).length;
  return pageTotal === null || [pages.length, filled, items, pages[0]?.items].includes(pageTotal);
}

const mayBePageSize = ({ pageTotal, items, total }: ChainPage): boolean =>
  total !== null && pageTotal !== null && pageTotal > items;

const sumOf = (pages: readonly ChainPage[], count: "items" | "unusableEntries" | "foreignItems"): number =>
  pages.reduce((sum, page) => sum + page[count], 0);

export interface ChainReader {
  /** The collections that these are pages of; for `unchanged` ones, only collections with an unfinished pass. */
  collectionsOf(received: readonly number[], unchanged: readonly number[]): number[];
  /** Whether a page of the collection is to be fetched. */
  hasDuePage(collectionId: number): boolean;
  /** From the first page on, along their links. */
  pagesOf(collectionId: number): ChainPage[];
  /** The number of items that are on these pages more than once. */
  countRepeated(pages: readonly ChainPage[]): number;
  /**
   * Items of the collection that are neither on these pages, nor in another listing of its kind, nor checked in this
   * run.
   */
  unlistedBy(pages: readonly ChainPage[], collectionId: number, runId: number): UnlistedItem[];
}

export interface UnlistedItem {
  readonly id: number;
  /** A page that has left the chain lists it, and may have been read after the chain. */
  readonly isDoubtful: 0 | 1;
}

const collectionsOfPages = (ids: string) =>
  q.selectFrom(idTable(ids)).innerJoin("_page as p", "p.id", "j.value").select("p.collection_id");

export function prepareChainReader(db: Connection): ChainReader {
  const selectCollections = prepareColumn(db, (p: { received: string; unchanged: string }) =>
    collectionsOfPages(p.received).union(
      collectionsOfPages(p.unchanged).innerJoin("_pass as s", "s.collection_id", "p.collection_id"),
    ),
  );
  // The latest page first: while a listing is read for the first time, that is the due one.
  const selectDuePage = prepareColumn(db, (p: { collectionId: number }) =>
    q
      .selectFrom("_page as p")
      .innerJoin("_resource as r", "r.id", "p.id")
      .select(sql<1>`1`.as("found"))
      .where("p.collection_id", "=", p.collectionId)
      .where("r.state", "=", "due")
      .orderBy("p.id", "desc")
      .limit(1),
  );
  // Raw: recursive.
  const selectPages = db.prepare<{ collectionId: number }, ChainPage>(
    `with recursive chain (id) as (
       select :collectionId
       union select p.next_id from chain join _page p on p.id = chain.id where p.next_id is not null
     )
     select p.id, p.collection_id as collectionId, p.next_id as nextId, p.total, p.page_total as pageTotal, p.doubt,
       r.checked_run as checkedRun,
       r.etag is not null as hasEtag, r.error is not null as isFailing,
       (select v.seq from _revision v where v.resource_id = p.id and v.to_run is null) as seq,
       (select count(*) from _member m where m.page_id = p.id) as items,
       (select count(*) from _member m where m.page_id = p.id and m.item_id is null)
         - (select count(*) from _measurement m where m.parent_id = p.id) as unusableEntries,
       (select count(*) from _issue where resource_id = p.id and code = 'kind-conflict'
        and pointer like '/collection/%') as foreignItems,
       exists (select 1 from _issue where resource_id = p.id and pointer = '/meta/collection_total') as hasOddTotal,
       (select iif(code = 'page-loop', code, 'other') from _issue
        where resource_id = p.id and pointer = '/meta/next' and p.next_id is null) as cut,
       exists (select 1 from _loaded l join _revision v on v.resource_id = l.resource_id and v.seq = l.seq
        where l.resource_id = p.id and l.bytes_run is null and v.to_run is null) as isLoaded
     from chain join _page p on p.id = chain.id join _resource r on r.id = p.id`,
  );
  const countRepeated = prepareColumn(db, (p: { pages: string }) =>
    q
      .selectFrom((eb) =>
        eb
          .selectFrom("_member")
          .select(sql<1>`1`.as("found"))
          .where("page_id", "in", idsIn(p.pages))
          .where("item_id", "is not", null)
          .groupBy("item_id")
          .having((having) => having.fn.countAll(), ">", 1)
          .as("repeated"),
      )
      .select((eb) => eb.fn.countAll<number>().as("count")),
  );
  const selectUnlisted = prepareUnlisted(db);

  return {
    collectionsOf: (received, unchanged) =>
      selectCollections.all({ received: JSON.stringify(received), unchanged: JSON.stringify(unchanged) }),
    hasDuePage: (collectionId) => selectDuePage.get({ collectionId }) !== undefined,
    pagesOf: (collectionId) => selectPages.all({ collectionId }),
    countRepeated: (pages) => countRepeated.get({ pages: heldIds(pages) }) ?? 0,
    unlistedBy(pages, collectionId, runId) {
      // Pages that never changed list all items that they ever listed.
      if (pages.every(({ seq }) => seq === 1)) return [];
      const sinceRun = Math.min(...pages.map(({ checkedRun }) => checkedRun));
      return selectUnlisted.all({ collectionId, pages: heldIds(pages), runId, sinceRun });
    },
  };
}

function prepareUnlisted(db: Connection) {
  interface Parameters {
    collectionId: number;
    pages: string;
    runId: number;
    sinceRun: number;
  }
  return prepare(db, (p: Parameters) => {
    const onFormerPage = selectListings()
      .where("p.collection_id", "=", p.collectionId)
      .where("l.last_checked_run", ">=", p.sinceRun);
    const kind = q.selectFrom("_resource").select("kind").where("id", "=", p.collectionId);
    const onThesePagesOrElsewhere = selectListings().where((eb) =>
      eb.or([
        eb("p.id", "in", idsIn(p.pages)),
        eb.and([
          eb("p.collection_id", "<>", p.collectionId),
          eb("l.state", "=", "held"),
          eb("l.kind", "=", kind),
        ]),
      ]),
    );
    return q
      .selectFrom("_resource as r")
      .select((eb) => ["r.id", eb.exists(onFormerPage).$castTo<0 | 1>().as("isDoubtful")])
      .where("r.owner_id", "=", p.collectionId)
      .where("r.state", "in", ["held", "due", "failed"])
      .where("r.absent_by", "is", null)
      .where("r.checked_run", "<", p.runId)
      .where((eb) => eb.not(eb.exists(onThesePagesOrElsewhere)));
  });
}

/** Of `_resource as r`. */
const selectListings = () =>
  q
    .selectFrom("_member as m")
    .innerJoin("_page as p", "p.id", "m.page_id")
    .innerJoin("_resource as l", "l.id", "p.id")
    .select(sql<1>`1`.as("found"))
    .where("m.item_id", "=", sql.ref<number>("r.id"));

function heldIds(pages: readonly ChainPage[]): string {
  return JSON.stringify(pages.flatMap(({ id, seq }) => (seq === null ? [] : [id])));
}
