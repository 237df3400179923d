/**
 * The order of checks: samples of snapshots, then lists and brands, then resources that they make suspect, then resources
 * that exceed the max staleness, then bodies from snapshots, then those where a change is likely and worth most. In:
 * queries, read as late as possible, since each check may be evidence for the next. Out: held resources, each once. Free
 * checks are made freely, counted ones only if due.
 */
import type { CheckRow } from "./queries/check-conditions.ts";
import type { CheckQueries } from "./queries/check-queries.ts";
import { freeCheckLimit, type PlannedResource, type PlanRequest, type Reason, weights } from "./request.ts";

export type PlannedCheck = Pick<PlannedResource, "id" | "kind" | "reason" | "isFree">;

export interface CrawlState {
  /** Whether something is still to be fetched for the first time: meanwhile only due checks are made. */
  readonly isRunning: boolean;
  /** Whether the run continues an earlier crawl: resources that one fetched lately are not checked. */
  readonly hasMoreWork: boolean;
}

/** @returns one check after the other; null where the next ones depend on results of those before */
export function* planChecks(
  queries: CheckQueries,
  request: PlanRequest,
  crawl: CrawlState,
): Generator<PlannedCheck | null, void> {
  const { allowance, now } = request;
  const planned = new Set<number>();
  let freeChecks = 0;
  let firstCheckAt: number | null = null;

  const mayCheckFreely = (share: number): boolean => {
    const { count, millis } = freeCheckLimit(request);
    if (freeChecks >= Math.ceil(count * share)) return false;
    firstCheckAt ??= now();
    return now() - firstCheckAt < millis;
  };

  /** @param share of the run's free checks, including those of earlier parts */
  function* part(rows: Iterable<CheckRow>, reason: Reason, share: number): Generator<PlannedCheck, void> {
    for (const { id, kind, isFree } of rows) {
      if (planned.has(id) || (isFree === 1 && !mayCheckFreely(share))) continue;
      planned.add(id);
      freeChecks += isFree;
      yield { id, kind, reason, isFree: isFree === 1 && allowance().checkPrice === "free" };
    }
  }

  /** A suspect that did change makes others suspect in turn. */
  function* suspects(share: number): Generator<PlannedCheck | null, void> {
    for (let before = -1; before < planned.size; ) {
      before = planned.size;
      yield null;
      yield* part(queries.suspects(), "suspect", share);
    }
  }

  const { shareOfListings, shareOfSuspects } = weights;
  yield* part(queries.sample(), "sample", 1);
  yield* part(queries.listings(crawl.hasMoreWork), "listing", shareOfListings);
  yield* suspects(shareOfListings + shareOfSuspects);
  yield* part(queries.overdue(), "stale", 1);
  yield* part(queries.unconfirmed(), "unconfirmed", 1);
  while (crawl.isRunning) yield null;
  yield* part(queries.expected(crawl.hasMoreWork), "expected", 1);
  yield* suspects(1);
}
