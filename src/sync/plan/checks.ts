/**
 * The order of checks: lists and brands, then resources that they make suspect, then resources that exceed the max
 * staleness, then those where a change is likely and worth most. In: queries, read as late as possible, since each check
 * may be evidence for the next. Out: held resources, each once. Free checks are made freely, counted ones only if due.
 */
import type { CheckQueries, CheckRow } from "./queries/check-queries.ts";
import { type PlannedResource, type PlanRequest, type Reason, weights } from "./request.ts";

export interface CrawlState {
  /** Whether something is still to be fetched for the first time: meanwhile only due checks are made. */
  readonly isRunning: boolean;
  /** Whether the run continues an earlier crawl: resources that one fetched lately are not checked. */
  readonly hasMoreWork: boolean;
}

/** @returns one check after the other; null where the next ones depend on results of those before */
export function* planChecks(
  queries: CheckQueries,
  { maxFreeChecks, allowance }: PlanRequest,
  crawl: CrawlState,
): Generator<PlannedResource | null, void> {
  const planned = new Set<number>();
  let freeChecks = 0;

  /** @param maxFree free checks, including those of earlier parts */
  function* part(
    rows: readonly CheckRow[],
    reason: Reason,
    maxFree: number,
  ): Generator<PlannedResource, void> {
    for (const { isFree, ...due } of rows) {
      if (planned.has(due.id) || (isFree === 1 && freeChecks >= maxFree)) continue;
      planned.add(due.id);
      freeChecks += isFree;
      yield { ...due, reason, isFree: isFree === 1 && allowance().checkPrice === "free" };
    }
  }

  /** A suspect that did change makes others suspect in turn. */
  function* suspects(maxFree: number): Generator<PlannedResource | null, void> {
    for (let before = -1; before < planned.size; ) {
      before = planned.size;
      yield null;
      yield* part(queries.suspects(), "suspect", maxFree);
    }
  }

  const { shareOfListings, shareOfSuspects } = weights;
  yield* part(queries.listings(crawl.hasMoreWork), "listing", Math.ceil(maxFreeChecks * shareOfListings));
  yield* suspects(Math.ceil(maxFreeChecks * (shareOfListings + shareOfSuspects)));
  yield* part(queries.overdue(), "stale", maxFreeChecks);
  while (crawl.isRunning) yield null;
  yield* part(queries.expected(crawl.hasMoreWork), "expected", maxFreeChecks);
  yield* suspects(maxFreeChecks);
}
