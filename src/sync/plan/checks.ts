/**
 * What is held and should be looked at again, in one order of evidence: listings and brands, then what they make suspect,
 * then what is older than a sweep allows, then where a change is likeliest and worth most. In: the mirror, read as late
 * as possible, since each check may be evidence for the next. Out: held resources, each once. A check that costs nothing
 * is made freely; one that is counted must be owed.
 */
import type { CheckQueries, CheckRow } from "./check-queries.ts";
import type { PlannedResource, PlanRequest, Reason } from "./plan-request.ts";
import { weights } from "./weights.ts";

export interface Crawl {
  /** Something was never fetched yet: only what is owed is checked meanwhile. */
  readonly isUnderWay: boolean;
  /** The run goes on with what an earlier one left: what that one has just fetched is left alone. */
  readonly goesOn: boolean;
}

/**
 * @returns one check after the other; null where the next ones depend on answers to those before
 */
export function* planChecks(
  queries: CheckQueries,
  { maxFreeChecks, allowance }: PlanRequest,
  crawl: Crawl,
): Generator<PlannedResource | null, void> {
  const given = new Set<number>();
  let freeChecks = 0;

  /** @param mostFree free checks at most, those of earlier parts included */
  function* part(
    rows: readonly CheckRow[],
    reason: Reason,
    mostFree: number,
  ): Generator<PlannedResource, void> {
    for (const { isFree, ...due } of rows) {
      if (given.has(due.id) || (isFree === 1 && freeChecks >= mostFree)) continue;
      given.add(due.id);
      freeChecks += isFree;
      yield { ...due, reason, isFree: isFree === 1 && allowance().checkPrice === "free" };
    }
  }

  /** A suspect that did change makes others suspect in its turn. */
  function* allSuspects(mostFree: number): Generator<PlannedResource | null, void> {
    for (let before = -1; before < given.size; ) {
      before = given.size;
      yield null;
      yield* part(queries.suspects(), "suspect", mostFree);
    }
  }

  const { shareOfEvidence, shareOfSuspects } = weights;
  yield* part(queries.listings(crawl.goesOn), "listing", Math.ceil(maxFreeChecks * shareOfEvidence));
  yield* allSuspects(Math.ceil(maxFreeChecks * (shareOfEvidence + shareOfSuspects)));
  yield* part(queries.overdue(), "sweep", maxFreeChecks);
  while (crawl.isUnderWay) yield null;
  yield* part(queries.expected(crawl.goesOn), "expected", maxFreeChecks);
  // And so does any other check that found a change.
  yield* allSuspects(maxFreeChecks);
}
