/**
 * Collections and their pages. The first page is the collection; each later one is known by the `meta.next` that led to
 * it. A chain that leads back into itself is reported, and does no harm, since no resource is asked for twice. One that
 * goes on and on over items that it already gave is cut.
 */
import type { Connection } from "../file/connection.ts";
import { toStored, toStoredId } from "../rows/cells.ts";
import { memberTable, prepareVersionedRows } from "../rows/versioned-rows.ts";
import type { Derived } from "./derive.ts";
import type { Resources, WrittenResource } from "./resources.ts";

export interface Member {
  readonly itemId: number | null;
  readonly name: string | null;
}

export interface Pages {
  /** The first page of the collection that this page is of: itself, unless another page led to it. */
  collectionOf(pageId: number): number;
  writeMembers(page: WrittenResource, collectionId: number, members: readonly Member[], runId: number): void;
  isPage(id: number): boolean;
  /** What was a page is none any more: it leads to no other. */
  cut(pageId: number): void;
  /** Reads a page that is new or changed, whose members are written: links it to its successor, unless the chain is cut here. */
  writeNext(
    page: WrittenResource,
    collectionId: number,
    derived: Pick<Derived, "nextUrl" | "collectionTotal">,
    runId: number,
  ): { hasNewPage: boolean; isLoop: boolean };
}

/** One page that gives nothing new is what remains where items moved; so many in a row are a chain without an end. */
const stalePagesOfEndless = 3;

export function preparePages(db: Connection, resources: Resources): Pages {
  const selectCollection = db
    .prepare<[number], number>("select collection_id from _page where id = ?")
    .pluck();
  const insertPage = db.prepare("insert or ignore into _page (id, collection_id) values (?, ?)");
  const updatePage = db.prepare("update _page set next_id = ?, total = ? where id = ?");
  const memberRows = prepareVersionedRows(db, memberTable);
  const reviveSuperseded = db.prepare(
    `update _resource set state = iif(
       exists (select 1 from _revision where resource_id = _resource.id and to_run is null), 'held', 'due')
     where state = 'superseded' and id in (
       with recursive chain (id) as (select ? union select p.next_id from _page p join chain on chain.id = p.id)
       select id from chain)`,
  );
  // What a page led to when it was last read may have changed since, unless that was in this run.
  const leadsTo = db
    .prepare<{ fromId: number; toId: number; runId: number }, number>(
      `with recursive chain (id) as (
         select :fromId union
         select p.next_id from chain join _page p on p.id = chain.id
         join _resource r on r.id = p.id and r.checked_run >= :runId
       ) select 1 from chain where id = :toId`,
    )
    .pluck();
  // The pages before it are those that lead to it, which need not be on the chain from the first page.
  const hasNewItem = db
    .prepare<{ pageId: number }, number>(
      `with recursive earlier (id) as (
         select id from _page where next_id = :pageId
         union select p.id from earlier join _page p on p.next_id = earlier.id
       ) select 1 from _member m where m.page_id = :pageId and m.item_id is not null and not exists (
         select 1 from _member e where e.item_id = m.item_id and e.page_id <> :pageId
           and e.page_id in (select id from earlier)
       ) limit 1`,
    )
    .pluck();
  const selectPrevious = db
    .prepare<[number], number>("select id from _page where next_id = ? limit 1")
    .pluck();
  // What a list names is there again. What was not there when it was asked for itself is asked once more.
  const forgetAbsences = db.prepare(
    `update _resource set absent_run = null, absent_by = null,
       state = iif(absent_by = 'answer', 'due', state), checked_run = iif(absent_by = 'answer', 0, checked_run)
     where absent_by is not null and +id in (select item_id from _member where page_id = ?)`,
  );

  const isEndless = (page: WrittenResource, collectionId: number): boolean => {
    if (page.isKnown) return false;
    let pageId: number | undefined = page.id;
    for (let stale = 0; stale < stalePagesOfEndless; stale++) {
      if (pageId === undefined || pageId === collectionId) return false;
      if (hasNewItem.get({ pageId }) !== undefined) return false;
      pageId = selectPrevious.get(pageId);
    }
    return true;
  };

  /** @returns null for what is known to be no page of such a collection */
  const ensurePage = (url: string, page: WrittenResource, collectionId: number, runId: number) => {
    const known = resources.find(url);
    const next = resources.ensure(url, page.kind, resources.ownerOf(collectionId), runId);
    if (known !== undefined && resources.find(url)?.kind !== page.kind) return null;
    // What was known to be of this kind before a page led to it is a collection of its own.
    insertPage.run(next.id, known?.kind === page.kind ? next.id : collectionId);
    reviveSuperseded.run(next.id);
    return next;
  };

  return {
    collectionOf: (pageId) => selectCollection.get(pageId) ?? pageId,
    writeMembers(page, collectionId, members, runId) {
      insertPage.run(page.id, collectionId);
      const id = BigInt(page.id);
      const rows = members.map(({ itemId, name }, n) => [id, BigInt(n), toStoredId(itemId), toStored(name)]);
      memberRows.replace(page, rows, runId);
    },
    isPage: (id) => selectCollection.get(id) !== undefined,
    cut: (pageId) => void updatePage.run(null, null, pageId),
    writeNext(page, collectionId, { nextUrl, collectionTotal }, runId) {
      forgetAbsences.run(page.id);
      const next =
        nextUrl === null || isEndless(page, collectionId)
          ? null
          : ensurePage(nextUrl, page, collectionId, runId);
      const isCircle = next !== null && leadsTo.get({ fromId: next.id, toId: page.id, runId }) !== undefined;
      updatePage.run(next?.id ?? null, collectionTotal, page.id);
      return { hasNewPage: next?.isNew ?? false, isLoop: isCircle || (nextUrl !== null && next === null) };
    },
  };
}
