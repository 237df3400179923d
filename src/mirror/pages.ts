/**
 * Collections and their pages. The first page is the collection; each later one is known by the `meta.next` that led to
 * it. A chain that leads back into itself, or goes on for ever over items it already gave, is cut and reported.
 */
import { toStored } from "./cell.ts";
import type { Connection } from "./connection.ts";
import type { Derived } from "./derive.ts";
import type { Resources } from "./resources.ts";
import type { WrittenResource } from "./write-derived.ts";

export interface Member {
  readonly itemId: number | null;
  readonly name: string | null;
}

export interface Pages {
  /** The first page of the collection that this page is of: itself, unless another page led to it. */
  collectionOf(pageId: number): number;
  writeMembers(page: WrittenResource, collectionId: number, members: readonly Member[]): void;
  /** Links the page to its successor, unless that would lead in circles. */
  writeNext(
    page: WrittenResource,
    collectionId: number,
    derived: Pick<Derived, "nextUrl" | "collectionTotal">,
    runId: number,
  ): { hasNewPage: boolean; isLoop: boolean };
}

export function preparePages(db: Connection, resources: Resources): Pages {
  const selectCollection = db
    .prepare<[number], number>("select collection_id from _page where id = ?")
    .pluck();
  const insertPage = db.prepare("insert or ignore into _page (id, collection_id) values (?, ?)");
  const updatePage = db.prepare("update _page set next_id = ?, total = ? where id = ?");
  const removeMembers = db.prepare("delete from _member where page_id = ?");
  const insertMember = db.prepare("insert into _member (page_id, n, item_id, name) values (?, ?, ?, ?)");
  const reviveSuperseded = db.prepare(
    "update _resource set state = 'due' where id = ? and state = 'superseded'",
  );
  const leadsTo = db
    .prepare<[number, number], number>(
      `with recursive chain (id) as (select ? union select p.next_id from _page p join chain on chain.id = p.id)
       select 1 from chain where id = ?`,
    )
    .pluck();
  // A page that gives nothing but items that earlier pages gave is how an endless chain looks.
  const hasNewItem = db
    .prepare<{ pageId: number; collectionId: number }, number>(
      `select 1 from _member m where m.page_id = :pageId and not exists (
         select 1 from _member e join _page p on p.id = e.page_id
         where e.item_id = m.item_id and p.collection_id = :collectionId and e.page_id <> m.page_id
       ) limit 1`,
    )
    .pluck();

  const isLoop = (page: WrittenResource, collectionId: number, nextUrl: string): boolean => {
    const next = resources.find(nextUrl);
    if (next !== undefined && leadsTo.get(next.id, page.id) === 1) return true;
    return (
      !page.isKnown &&
      page.id !== collectionId &&
      hasNewItem.get({ pageId: page.id, collectionId }) === undefined
    );
  };

  return {
    collectionOf: (pageId) => selectCollection.get(pageId) ?? pageId,
    writeMembers(page, collectionId, members) {
      insertPage.run(page.id, collectionId);
      if (page.isKnown) removeMembers.run(page.id);
      members.forEach(({ itemId, name }, n) => {
        insertMember.run(page.id, n, itemId, name === null ? null : toStored(name));
      });
    },
    writeNext(page, collectionId, { nextUrl, collectionTotal }, runId) {
      if (nextUrl === null || isLoop(page, collectionId, nextUrl)) {
        updatePage.run(null, collectionTotal, page.id);
        return { hasNewPage: false, isLoop: nextUrl !== null };
      }
      const next = resources.ensure(nextUrl, page.kind, resources.ownerOf(collectionId), runId);
      insertPage.run(next.id, collectionId);
      reviveSuperseded.run(next.id);
      updatePage.run(next.id, collectionTotal, page.id);
      return { hasNewPage: next.isNew, isLoop: false };
    },
  };
}
