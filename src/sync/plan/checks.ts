/**
 * What is held and should be looked at again, in one order of evidence: listings and brands, then what they make suspect,
 * then what is older than max staleness allows, then where a change is likeliest and worth most. In: the mirror, read as late
 * as possible, since each check may be evidence for the next. Out: held resources, each once. A check that costs nothing
 * is made freely; one that is counted must be owed.
 */

import { millisOf } from "../../../schema/tables.ts";
import { type DueResource, isInScope } from "../../mirror/check-cycle.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { dayMillis } from "../../platform/clock.ts";
import { type PlannedResource, type PlanRequest, type Reason, weights } from "./request.ts";

export interface Crawl {
  /** Something was never fetched yet: only what is owed is checked meanwhile. */
  readonly isUnderWay: boolean;
  /** The run goes on with what an earlier one left: what that one has just fetched is left alone. */
  readonly hasMoreWork: boolean;
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
  yield* part(queries.listings(crawl.hasMoreWork), "listing", Math.ceil(maxFreeChecks * shareOfEvidence));
  yield* allSuspects(Math.ceil(maxFreeChecks * (shareOfEvidence + shareOfSuspects)));
  yield* part(queries.overdue(), "stale", maxFreeChecks);
  while (crawl.isUnderWay) yield null;
  yield* part(queries.expected(crawl.hasMoreWork), "expected", maxFreeChecks);
  // And so does any other check that found a change.
  yield* allSuspects(maxFreeChecks);
}

/** The questions to the mirror behind the checks: which held resources are there, in which order to look at them. */

export interface CheckRow extends DueResource {
  /** Whether it costs nothing if nothing changed, as far as is known. */
  readonly isFree: 0 | 1;
}

export interface CheckQueries {
  /** The front page, before its first fetch and about once a day. */
  root(): DueResource | null;
  /**
   * Listings that lead further, and brands: few, and they tell of many others.
   * @param hasMoreWork leaves alone what was looked at lately
   */
  listings(hasMoreWork: boolean): CheckRow[];
  /** What a change of its parent, or of its parent's parent, makes suspect since it was last checked. */
  suspects(): CheckRow[];
  /** What is older than a sweep allows, the oldest first; what did not answer is asked again here only, since that is counted. */
  overdue(): CheckRow[];
  /**
   * The rest that is free to check: first where expected changes, worth and age are largest.
   * @param hasMoreWork leaves alone what was looked at lately
   */
  expected(hasMoreWork: boolean): CheckRow[];
  /** All of it, the oldest check first. */
  everything(): CheckRow[];
}

/** A check that lies in the future was dated by a clock that has been put back since: it may be of any age. */
const isOfWrongClock = "r.checked_at > :now";

/** Those that matter most come first where not all can be checked. */
const worthOf = "coalesce(b.bra_count, m.bra_count, s.bra_count, 0)";
const withWorth =
  "left join _brand b on b.id = r.id left join _model m on m.id = r.id left join _size s on s.id = r.id";

export function prepareCheckQueries(db: Connection, request: PlanRequest): CheckQueries {
  const { scope, runId, maxStalenessMillis, skipFresherThanMillis, maxFreeChecks, now } = request;
  const isFree = () => (request.allowance().checkPrice === "counted" ? "0" : "r.etag is not null");
  const columns = () => `r.id, r.url, r.kind, r.etag, ${isFree()} as isFree`;
  /** What is held, was not checked in this run, and is old enough to be looked at. */
  const held = `r.state = 'held' and r.kind in (select value from json_each(:kinds)) and r.checked_run < :runId
    and (r.checked_at <= :heldBefore or ${isOfWrongClock}) and ${isInScope(scope, "r")}`;
  /** @param leastMillis how long ago the last check must be */
  const read = (sql: string, leastMillis: number, more: Record<string, unknown> = {}) =>
    db.prepare<[Record<string, unknown>], CheckRow>(sql).all({
      kinds: JSON.stringify(scope.kinds),
      runId,
      heldBefore: now() - Math.max(leastMillis, skipFresherThanMillis),
      now: now(),
      ...more,
    });
  const restMillis = weights.restDays * dayMillis;
  const selectRoot = db.prepare<[number, number, number], DueResource>(
    `select id, url, kind, etag from _resource
     where kind = 'root' and checked_run < ? and (checked_at is null or checked_at <= ? or checked_at > ?)`,
  );

  return {
    root: () => selectRoot.get(runId, now() - restMillis, now()) ?? null,
    listings: (hasMoreWork) =>
      read(
        `select ${columns()} from _resource r ${withWorth}
         where ${held} and r.absent_by is null and r.kind in ('root', 'brands', 'brand', 'models')
           and (r.checked_at <= iif(${isFree()}, :freeBefore, :pricedBefore) or ${isOfWrongClock})
         order by r.kind = 'root' desc, r.kind = 'brands' desc, r.checked_run, ${worthOf} desc, r.id`,
        0,
        {
          freeBefore: now() - (hasMoreWork ? restMillis : 0),
          pricedBefore: now() - maxStalenessMillis / weights.pricedEvidencePerMaxStaleness,
        },
      ),
    suspects: () =>
      read(
        `with changed (id, run_id) as (
           select resource_id, max(from_run) from _revision where seq > 1 group by resource_id
         ), suspect (id, parent_id) as (
           select r.id, c.id from changed c join _resource r on r.owner_id = c.id where r.checked_run < c.run_id
           union
           select r.id, c.id from changed c join _resource o on o.owner_id = c.id join _resource r on r.owner_id = o.id
           where r.checked_run < c.run_id
         ), suspicion (id, likelihood) as (
           select id, max(likelihood) from (
             select id, 1.0 / count(*) over (partition by parent_id) as likelihood from suspect
           ) group by id
         )
         select ${columns()} from suspicion join _resource r on r.id = suspicion.id ${withWorth}
         where ${held} and r.absent_by is null and (${isFree()} or suspicion.likelihood >= :leastSuspicion)
         order by suspicion.likelihood * (1 + ${worthOf}) desc, r.id`,
        0,
        { leastSuspicion: weights.leastSuspicion },
      ),
    overdue: () =>
      read(
        `select ${columns()} from _resource r ${withWorth} where ${held} order by r.checked_at, ${worthOf} desc, r.id`,
        maxStalenessMillis,
      ),
    expected: (hasMoreWork) =>
      read(
        `select ${columns()} from _resource r ${withWorth} left join json_each(:rates) rate on rate.key = r.kind
         where ${held} and r.absent_by is null and ${isFree()}
         order by rate.value * (1 + ${worthOf}) * (:now - r.checked_at) desc, r.id
         limit :most`,
        hasMoreWork ? restMillis : 0,
        {
          rates: JSON.stringify(Object.fromEntries(readChangeRates(db))),
          most: maxFreeChecks,
        },
      ),
    everything: () =>
      read(`select ${columns()} from _resource r where ${held} order by r.checked_run, r.id`, 0),
  };
}

/** How often resources of a kind change, learned from what the mirror has seen of them. */

interface KindHistory {
  readonly kind: string;
  /** Changes seen. */
  readonly changes: number;
  /** Days from the first look to the last one, of all resources together. */
  readonly days: number;
}

/** @returns changes a day of one resource, by kind; what was hardly watched is near a guess */
export function readChangeRates(db: Connection): Map<string, number> {
  const histories = db
    .prepare<[], KindHistory>(
      `select r.kind, total(v.changes) as changes,
         total(max(0, r.checked_at - ${millisOf("f.started_at")})) / ${dayMillis} as days
       from _resource r join _run f on f.id = r.first_run
       left join (select resource_id as id, max(seq) - 1 as changes from _revision group by resource_id) v on v.id = r.id
       where r.checked_at is not null group by r.kind`,
    )
    .all();
  return new Map(histories.map((history) => [history.kind, rateOf(history)]));
}

function rateOf({ changes, days }: KindHistory): number {
  const { changesPerDay, changeGuessDays } = weights;
  return (changes + changesPerDay * changeGuessDays) / (days + changeGuessDays);
}
