/**
 * The order of requests for the pages of a list: the first page shows whether the list still has the later ones, whose
 * addresses may end at any time. In: a planner. Out: its resources; a later page waits for the response to the first one,
 * and for a page that links to it. It sends and writes nothing.
 */
import { sql } from "kysely";
import type { Connection } from "../../mirror/file/connection.ts";
import { prepare, prepareColumn } from "../../mirror/file/statements.ts";
import { idsIn, q } from "../../mirror/queries/query-builder.ts";
import type { Planner } from "./planner.ts";
import type { PlannedResource, PlanRequest } from "./request.ts";

export function orderPages(
  planner: Planner,
  db: Connection,
  { runId, mode, allowance }: Pick<PlanRequest, "runId" | "mode" | "allowance">,
): Planner {
  const { selectPages, selectChain, selectEndedPage } = prepareStatements(db);
  const isFull = mode === "full" ? 1 : 0;
  let waiting: readonly PlannedResource[] = [];

  /**
   * Whether the response to the first page may replace this later page. If the first page was checked after the later
   * one, its link is probably current: another check is only worth its cost if addresses are known to end.
   */
  const comesAfterFirst = (page: Page): boolean => {
    if (page.firstCheckedRun >= runId || page.isFirstFetchable === 0) return false;
    const isCurrent = page.firstState === "held" && page.firstLastRun > page.lastRun;
    return !isCurrent || selectEndedPage.get() !== undefined;
  };
  const firstOf = (page: Page, { reason }: PlannedResource): PlannedResource => {
    const etag = mode === "full" ? null : page.firstEtag;
    const isFree = etag !== null && allowance().checkPrice === "free";
    return { id: page.firstId, url: page.firstUrl, kind: page.kind, etag, reason, isFree };
  };

  return {
    take(limit, isTaken, isAwaited = () => false) {
      const taken = new Map<number, PlannedResource>();
      const stillWaiting = new Map<number, PlannedResource>();
      const pages = new Map<number, Page>();
      const chains = new Map<number, ReadonlySet<number>>();
      const chainOf = ({ firstId }: Page): ReadonlySet<number> => {
        const chain = chains.get(firstId) ?? new Set(selectChain.all({ firstId }));
        chains.set(firstId, chain);
        return chain;
      };
      const wait = (page: Page, planned: PlannedResource): void => {
        stillWaiting.set(planned.id, planned);
        pages.set(planned.id, page);
      };
      /** A waiting page is under way with another one of its list. */
      const isUnderWay = (id: number): boolean => {
        const page = pages.get(id);
        return taken.has(id) || isAwaited(id) || (page !== undefined && [...chainOf(page)].some(isAwaited));
      };

      const add = (planned: PlannedResource, page: Page | undefined): void => {
        // It was requested before one of the later pages.
        if (page?.state === "held" && page.checkedRun >= runId) return;
        if (page === undefined || page.firstId === planned.id) {
          taken.set(planned.id, planned);
          return;
        }
        const first = comesAfterFirst(page) ? firstOf(page, planned) : null;
        const hasFailed = first !== null && page.hasFirstFailed === 1 && isTaken(first.id);
        if (first !== null && !hasFailed) {
          if (!isTaken(first.id) && !taken.has(first.id)) taken.set(first.id, first);
          wait(page, planned);
        } else if (chainOf(page).has(planned.id)) taken.set(planned.id, planned);
        else wait(page, planned);
      };

      /** One statement for all: most resources of a crawl are no pages, and each statement locks the file. */
      const addAll = (all: readonly PlannedResource[]): void => {
        const ids = JSON.stringify(all.map(({ id }) => id));
        const known = all.length === 0 ? [] : selectPages.all({ ids, isFull });
        const pageOf = new Map(known.map((page) => [page.id, page]));
        for (const planned of all) add(planned, pageOf.get(planned.id));
      };

      addAll(waiting);
      while (taken.size < limit) {
        const more = planner.take(
          limit - taken.size,
          (id) => taken.has(id) || stillWaiting.has(id) || isTaken(id),
          isUnderWay,
        );
        addAll(more);
        if (more.length === 0 || taken.size > 0) break;
      }
      waiting = [...stillWaiting.values()];
      return [...taken.values()];
    },
  };
}

interface Page {
  readonly id: number;
  readonly kind: string;
  readonly state: string;
  readonly checkedRun: number;
  readonly lastRun: number;
  readonly firstId: number;
  readonly firstUrl: string;
  readonly firstEtag: string | null;
  readonly firstState: string;
  readonly firstCheckedRun: number;
  readonly firstLastRun: number;
  readonly isFirstFetchable: 0 | 1;
  readonly hasFirstFailed: 0 | 1;
}

function prepareStatements(db: Connection) {
  const selectPages = prepare(db, (p: { ids: string; isFull: 0 | 1 }) =>
    q
      .selectFrom("_page as p")
      .innerJoin("_resource as r", "r.id", "p.id")
      .innerJoin("_resource as f", "f.id", "p.collection_id")
      .select(["p.id", "f.kind", "r.state", "r.checked_run as checkedRun", lastRun(p, "r").as("lastRun")])
      .select(["f.id as firstId", "f.url as firstUrl", "f.etag as firstEtag", "f.state as firstState"])
      .select(["f.checked_run as firstCheckedRun", lastRun(p, "f").as("firstLastRun")])
      .select([
        sql<0 | 1>`f.state in ('held', 'due') and f.absent_by is null`.as("isFirstFetchable"),
        sql<0 | 1>`f.error is not null`.as("hasFirstFailed"),
      ])
      .where("p.id", "in", idsIn(p.ids)),
  );
  const selectChain = db
    .prepare<{ firstId: number }, number>(
      `with recursive chain (id) as (
         select :firstId union select p.next_id from chain join _page p on p.id = chain.id where p.next_id is not null
       ) select id from chain`,
    )
    .pluck();
  // A list linked to the page, and it did not exist when it was requested for the first time.
  const selectEndedPage = prepareColumn(db, () =>
    q
      .selectFrom("_page as p")
      .innerJoin("_resource as r", "r.id", "p.id")
      .select(sql<1>`1`.as("found"))
      .whereRef("p.collection_id", "<>", "p.id")
      .where("r.state", "in", ["superseded", "due"])
      .where("r.checked_at", "is not", null)
      .where(sql<boolean>`not exists (select 1 from _revision where resource_id = p.id)`)
      .limit(1),
  );
  return { selectPages, selectChain, selectEndedPage };
}

/** In a full cycle, a resource that was only found unchanged is still to be fetched. */
const lastRun = ({ isFull }: { readonly isFull: 0 | 1 }, alias: string) =>
  sql<number>`iif(${isFull}, ${sql.ref(`${alias}.fetched_run`)}, ${sql.ref(`${alias}.last_checked_run`)})`;
