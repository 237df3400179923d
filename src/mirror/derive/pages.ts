/**
 * Collections and their pages. The first page is the collection; each later one is known by the `meta.next` that led
 * to it. A chain that forms a circle is reported and does no harm, since no resource is requested twice. A chain that
 * continues without new items, or with far fewer than it has pages, is cut.
 */
import { sql } from "kysely";
import { limits } from "../../../schema/input/limits.ts";
import type { PageTable, ResourceState } from "../../../schema/tables.ts";
import { withoutNote } from "../absence/absences.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { toStored, toStoredId } from "../rows/cells.ts";
import { memberTable, prepareVersionedRows } from "../rows/versioned-rows.ts";
import type { Derived } from "./derive.ts";
import type { Resources, WrittenResource } from "./resources.ts";

/** What a page says about itself and its collection. */
export type PageFacts = Pick<Derived, "nextUrl" | "collectionTotal" | "pageTotal" | "otherAddresses">;

export interface Member {
  readonly itemId: number | null;
  readonly name: string | null;
}

export interface Pages {
  /** The first page of the collection; the page itself unless another page led to it. */
  collectionOf(pageId: number): number;
  isPage(id: number): boolean;
  writeMembers(page: WrittenResource, collectionId: number, members: readonly Member[], runId: number): void;
  /** Links a page whose members are written to the next one, unless the chain is cut here. */
  writeNext(
    page: WrittenResource,
    collectionId: number,
    facts: PageFacts,
    runId: number,
  ): { hasNewPage: boolean; isLoop: boolean };
  /** Removes the link to the next page, for a resource that is no longer a page. */
  cut(pageId: number): void;
}

/** Items that move between pages may leave one page without new items, but not so many in a row. */
const maxStalePages = 3;
/** The whole of a list is compared with its pages only so often: that takes time in proportion to the list. */
const pagesBetweenCounts = 64;
/** How many items a list may have beyond twice the number that it states: the number may be old. */
const unstatedItems = 1_000;

export function preparePages(db: Connection, resources: Resources): Pages {
  const memberRows = prepareVersionedRows(db, memberTable);
  const statements = prepareStatements(db);

  const givesTooLittle = (collectionId: number, total: number | null): boolean => {
    const pages = statements.countPages.get({ collectionId }) ?? 0;
    if (pages % pagesBetweenCounts !== 0) return false;
    if (pages >= limits.pagesPerList) return true;
    const items =
      (statements.countItems.get({ collectionId }) ?? 0) + (statements.countRows.get({ collectionId }) ?? 0);
    return pages > 2 * items || (total !== null && items > 2 * total + unstatedItems);
  };

  const isEndless = (
    page: WrittenResource,
    collectionId: number,
    { nextUrl, collectionTotal }: PageFacts,
  ): boolean => {
    const isNextKnown = nextUrl !== null && resources.find(nextUrl) !== undefined;
    // Some services state the number of items on the page.
    const total =
      collectionTotal === statements.countMembers.get({ pageId: page.id }) ? null : collectionTotal;
    if (!isNextKnown && givesTooLittle(collectionId, total)) return true;
    if (page.isKnown) return false;
    let pageId: number | undefined = page.id;
    for (let stalePages = 0; stalePages < maxStalePages; stalePages++) {
      if (pageId === undefined || pageId === collectionId) return false;
      if (statements.hasNewItem.get({ pageId }) !== undefined) return false;
      if (statements.hasNewRow.get({ pageId }) !== undefined) return false;
      pageId = statements.selectPrevious.get({ pageId });
    }
    return true;
  };

  /** Whether the body may be that of another page. */
  const doubtAbout = (
    page: WrittenResource,
    collectionId: number,
    { own, previous }: PageFacts["otherAddresses"],
  ): PageTable["doubt"] => {
    const isFirst = page.id === collectionId;
    // The first page has none before it. That of a later page may have any address of its collection.
    const named = isFirst && previous !== null ? [...own, previous] : own;
    const known = named.map((url) => resources.find(url));
    if (known.some((other) => other !== undefined && other.id !== page.id)) return "other-page";
    const before = isFirst || previous === null ? undefined : resources.find(previous);
    if (before !== undefined && statements.selectCollection.get({ pageId: before.id }) !== collectionId)
      return "other-page";
    return known.some((other) => other === undefined) ? "other-address" : null;
  };

  /** @returns null if the URL is known as a resource of another kind */
  const ensurePage = (url: string, page: WrittenResource, collectionId: number, runId: number) => {
    const known = resources.find(url);
    const next = resources.ensure(url, page.kind, resources.ownerOf(collectionId), runId);
    if (known !== undefined && resources.find(url)?.kind !== page.kind) return null;
    // A resource that had this kind before a page led to it is a collection of its own.
    const isOwnCollection = known?.kind === page.kind;
    statements.insertPage.run({ pageId: next.id, collectionId: isOwnCollection ? next.id : collectionId });
    statements.reviveSuperseded.run({ pageId: next.id });
    return next;
  };

  return {
    collectionOf: (pageId) => statements.selectCollection.get({ pageId }) ?? pageId,
    isPage: (pageId) => statements.selectCollection.get({ pageId }) !== undefined,
    writeMembers(page, collectionId, members, runId) {
      statements.insertPage.run({ pageId: page.id, collectionId });
      const id = BigInt(page.id);
      const rows = members.map(({ itemId, name }, n) => [id, BigInt(n), toStoredId(itemId), toStored(name)]);
      memberRows.replace(page, rows, runId);
    },
    writeNext(page, collectionId, facts, runId) {
      const { nextUrl, collectionTotal, pageTotal, otherAddresses } = facts;
      statements.clearNotesOfItems.run({ pageId: page.id });
      const next =
        nextUrl === null || isEndless(page, collectionId, facts)
          ? null
          : ensurePage(nextUrl, page, collectionId, runId);
      const isCircle =
        next !== null && statements.leadsTo.get({ fromId: next.id, toId: page.id, runId }) !== undefined;
      statements.updatePage.run({
        pageId: page.id,
        ...{ nextId: next?.id ?? null, total: collectionTotal, pageTotal },
        doubt: doubtAbout(page, collectionId, otherAddresses),
      });
      return { hasNewPage: next?.isNew ?? false, isLoop: isCircle || (nextUrl !== null && next === null) };
    },
    cut(pageId) {
      statements.updatePage.run({ pageId, nextId: null, total: null, pageTotal: null, doubt: null });
    },
  };
}

/** `earlier`: all pages that lead to this one, also those that are not on the chain from the first page. */
const withEarlierPages = (pageId: number) =>
  q.withRecursive("earlier(id)", (w) =>
    w
      .selectFrom("_page")
      .select("id")
      .where("next_id", "=", pageId)
      .union(w.selectFrom("earlier").innerJoin("_page as p", "p.next_id", "earlier.id").select("p.id")),
  );

interface PageUpdate {
  pageId: number;
  nextId: number | null;
  total: number | null;
  pageTotal: number | null;
  doubt: PageTable["doubt"];
}

function prepareStatements(db: Connection) {
  return {
    selectCollection: prepareColumn(db, (p: { pageId: number }) =>
      q.selectFrom("_page").select("collection_id").where("id", "=", p.pageId),
    ),
    selectPrevious: prepareColumn(db, (p: { pageId: number }) =>
      q.selectFrom("_page").select("id").where("next_id", "=", p.pageId).limit(1),
    ),
    insertPage: prepare(db, (p: { pageId: number; collectionId: number }) =>
      q.insertInto("_page").orIgnore().values({ id: p.pageId, collection_id: p.collectionId }),
    ),
    updatePage: prepare(db, (p: PageUpdate) =>
      q
        .updateTable("_page")
        .set({ next_id: p.nextId, total: p.total, page_total: p.pageTotal, doubt: p.doubt })
        .where("id", "=", p.pageId),
    ),
    countPages: prepareColumn(db, (p: { collectionId: number }) =>
      q
        .selectFrom("_page")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("collection_id", "=", p.collectionId),
    ),
    countItems: prepareColumn(db, (p: { collectionId: number }) =>
      q
        .selectFrom("_page as p")
        .innerJoin("_member as m", "m.page_id", "p.id")
        .select(({ fn }) => fn.count<number>("m.item_id").distinct().as("count"))
        .where("p.collection_id", "=", p.collectionId),
    ),
    countMembers: prepareColumn(db, (p: { pageId: number }) =>
      q
        .selectFrom("_member")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("page_id", "=", p.pageId),
    ),
    countRows: prepareColumn(db, (p: { collectionId: number }) =>
      q
        .selectFrom("_page as p")
        .innerJoin("_measurement as m", "m.parent_id", "p.id")
        .select(({ fn }) => fn.count<number>("m.payload").distinct().as("count"))
        .where("p.collection_id", "=", p.collectionId),
    ),
    // A listed item exists. If its own response said otherwise, it is requested again.
    clearNotesOfItems: prepare(db, (p: { pageId: number }) =>
      q
        .updateTable("_resource")
        .set({
          ...withoutNote,
          state: sql<ResourceState>`iif(absent_by = 'response', 'due', state)`,
          checked_run: sql<number>`iif(absent_by = 'response', 0, checked_run)`,
        })
        .where("absent_by", "is not", null)
        .where(sql`+id`, "in", q.selectFrom("_member").select("item_id").where("page_id", "=", p.pageId)),
    ),
    reviveSuperseded: prepare(db, (p: { pageId: number }) =>
      q
        .updateTable("_resource")
        .set({ state: "due" })
        .where("state", "=", "superseded")
        .where(
          "id",
          "in",
          q
            .withRecursive("chain(id)", (w) =>
              w
                .selectNoFrom(sql<number | null>`${p.pageId}`.as("id"))
                .union(
                  w.selectFrom("_page as p").innerJoin("chain", "chain.id", "p.id").select("p.next_id as id"),
                ),
            )
            .selectFrom("chain")
            .select("id"),
        ),
    ),
    // Links that were read before this run may have changed since.
    leadsTo: prepareColumn(db, (p: { fromId: number; toId: number; runId: number }) =>
      q
        .withRecursive("chain(id)", (w) =>
          w
            .selectNoFrom(sql<number | null>`${p.fromId}`.as("id"))
            .union(
              w
                .selectFrom("chain")
                .innerJoin("_page as p", "p.id", "chain.id")
                .innerJoin("_resource as r", "r.id", "p.id")
                .where("r.checked_run", ">=", p.runId)
                .select("p.next_id as id"),
            ),
        )
        .selectFrom("chain")
        .select(sql<1>`1`.as("found"))
        .where("id", "=", p.toId),
    ),
    // As `hasNewItem`, for items without a resource: they are rows of their page.
    hasNewRow: prepareColumn(db, (p: { pageId: number }) =>
      withEarlierPages(p.pageId)
        .selectFrom("_measurement as m")
        .select(sql<1>`1`.as("found"))
        .where("m.parent_id", "=", p.pageId)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom("_measurement as e")
                .select("e.n")
                .whereRef("e.payload", "=", "m.payload")
                .where("e.parent_id", "<>", p.pageId)
                .where("e.parent_id", "in", eb.selectFrom("earlier").select("id")),
            ),
          ),
        )
        .limit(1),
    ),
    hasNewItem: prepareColumn(db, (p: { pageId: number }) =>
      withEarlierPages(p.pageId)
        .selectFrom("_member as m")
        .select(sql<1>`1`.as("found"))
        .where("m.page_id", "=", p.pageId)
        .where("m.item_id", "is not", null)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom("_member as e")
                .select("e.n")
                .whereRef("e.item_id", "=", "m.item_id")
                .where("e.page_id", "<>", p.pageId)
                .where("e.page_id", "in", eb.selectFrom("earlier").select("id")),
            ),
          ),
        )
        .limit(1),
    ),
  };
}
