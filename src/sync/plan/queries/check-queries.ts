/** Which held resources may be checked, and in which order. Each query reads the mirror as it is at that moment. */
import { type SqlBool, sql } from "kysely";
import type { Connection } from "../../../mirror/file/connection.ts";
import { prepare, prepareColumn, q, textsIn } from "../../../mirror/file/statements.ts";
import { type KindCoverage, readObserved, readStored } from "../../../mirror/runs/coverage.ts";
import { type DueResource, dueColumns, inScope } from "../../../mirror/scope.ts";
import { hasLoaded, isCurrent, isUnconfirmed } from "../../../mirror/snapshots/loaded.ts";
import { isPendingSample } from "../../../mirror/snapshots/sample.ts";
import { dayMillis } from "../../../platform/clock.ts";
import { freeCheckLimit, type PlanRequest, weights } from "../request.ts";

export interface CheckRow extends DueResource {
  /** Whether the check is free if nothing changed, as far as is known. */
  readonly isFree: 0 | 1;
}

export interface CheckQueries {
  /** The root, before its first fetch and about once a day. */
  root(): DueResource | null;
  /** The part of the samples of snapshots that was not fetched yet: counted requests. */
  sample(): CheckRow[];
  /**
   * The root, brands and lists of brands and models: few resources that show changes of many others.
   * @param hasMoreWork leaves out resources that the crawl which this run continues has checked lately
   */
  listings(hasMoreWork: boolean): CheckRow[];
  /** Resources of which the owner, or the owner's owner, changed since their last check. */
  suspects(): CheckRow[];
  /** Resources that exceed the max staleness, oldest first. Only here are failed checks repeated, since they cost. */
  overdue(): CheckRow[];
  /** Free checks of bodies from snapshots that the service has not confirmed, by worth and age. */
  unconfirmed(): CheckRow[];
  /**
   * All other free checks, by expected changes, worth and age.
   * @param hasMoreWork as for `listings`
   */
  expected(hasMoreWork: boolean): CheckRow[];
  /** All held resources, oldest check first. */
  everything(): CheckRow[];
}

interface HeldParameters {
  /** JSON array. */
  kinds: string;
  runId: number;
  checkedBefore: number;
  /** Of a check up to this run, only `skipFresherThan` limits the age; 0 for none. */
  earlierRun: number;
  fresherThan: number;
  now: number;
  /** Whether a check costs as much as a fetch. */
  isCounted: 0 | 1;
}

export function prepareCheckQueries(db: Connection, request: PlanRequest): CheckQueries {
  const { scope, runId, maxStalenessMillis, skipFresherThanMillis, now } = request;

  /** Held resources that were not checked in this run, and not lately. */
  const isCheckable = (p: HeldParameters) =>
    sql<SqlBool>`(r.state = 'held' and r.kind in ${textsIn(p.kinds)} and r.checked_run < ${p.runId}
      and (r.checked_at <= ${p.checkedBefore} or ${hasWrongTime(p)}
        or (r.checked_run <= ${p.earlierRun} and r.checked_at <= ${p.fresherThan}))
      and ${inScope(scope, "r")})`;
  const selectHeld = (p: HeldParameters) =>
    q.selectFrom("_resource as r").select(dueColumns).select(isFree(p).as("isFree")).where(isCheckable(p));
  const selectHeldWithWorth = (p: HeldParameters) =>
    selectHeld(p)
      .leftJoin("_brand as b", "b.id", "r.id")
      .leftJoin("_model as m", "m.id", "r.id")
      .leftJoin("_size as s", "s.id", "r.id");

  const selectRoot = prepare(db, (p: { runId: number; checkedBefore: number; now: number }) =>
    q
      .selectFrom("_resource as r")
      .select(dueColumns)
      .where("r.kind", "=", "root")
      .where("r.checked_run", "<", p.runId)
      .where((eb) =>
        eb.or([eb("r.checked_at", "is", null), eb("r.checked_at", "<=", p.checkedBefore), hasWrongTime(p)]),
      ),
  );
  const selectListings = prepare(
    db,
    (p: HeldParameters & { freeCheckedBefore: number; countedCheckedBefore: number }) =>
      selectHeldWithWorth(p)
        .where("r.absent_by", "is", null)
        .where("r.kind", "in", ["root", "brands", "brand", "models"])
        .where((eb) =>
          eb.or([
            sql<SqlBool>`r.checked_at <= iif(${isFree(p)}, ${p.freeCheckedBefore}, ${p.countedCheckedBefore})`,
            sql<SqlBool>`(${isFree(p)} and r.checked_run <= ${p.earlierRun})`,
            hasWrongTime(p),
          ]),
        )
        .orderBy(sql`r.kind = 'root'`, "desc")
        .orderBy(sql`r.kind = 'brands'`, "desc")
        .orderBy("r.checked_run")
        .orderBy(worth, "desc")
        .orderBy("r.id"),
  );
  const selectSuspects = prepare(db, (p: HeldParameters & { minSuspicion: number }) =>
    // In this order of tables, since suspects are few.
    q
      .selectFrom(suspicions(p).as("suspicion"))
      .crossJoin("_resource as r")
      .select(dueColumns)
      .select(isFree(p).as("isFree"))
      .whereRef("r.id", "=", "suspicion.id")
      .where(isCheckable(p))
      .leftJoin("_brand as b", "b.id", "r.id")
      .leftJoin("_model as m", "m.id", "r.id")
      .leftJoin("_size as s", "s.id", "r.id")
      .where("r.absent_by", "is", null)
      .where((eb) => eb.or([sql<SqlBool>`(${isFree(p)})`, eb("suspicion.likelihood", ">=", p.minSuspicion)]))
      .orderBy(sql`suspicion.likelihood * (1 + ${worth})`, "desc")
      .orderBy("r.id"),
  );
  const selectOverdue = prepare(db, (p: HeldParameters) =>
    selectHeldWithWorth(p).orderBy("r.checked_at").orderBy(worth, "desc").orderBy("r.id"),
  );
  const selectSample = prepare(db, (p: { kinds: string; runId: number }) =>
    q
      .selectFrom("_loaded as l")
      .innerJoin("_resource as r", "r.id", "l.resource_id")
      .select(dueColumns)
      .select(sql<0>`0`.as("isFree"))
      .where("r.state", "=", "held")
      .where("r.kind", "in", textsIn(p.kinds))
      .where("r.checked_run", "<", p.runId)
      .where("r.absent_by", "is", null)
      .where(isPendingSample)
      .where(inScope(scope, "r"))
      .orderBy("r.id"),
  );
  const selectUnconfirmed = prepare(db, (p: HeldParameters & { max: number }) =>
    selectHeldWithWorth(p)
      .innerJoin("_loaded as l", "l.resource_id", "r.id")
      .where(isUnconfirmed)
      .where(isCurrent)
      .where("r.absent_by", "is", null)
      .where(sql<SqlBool>`${isFree(p)}`)
      .orderBy(sql`(1 + ${worth}) * (${p.now} - r.checked_at)`, "desc")
      .orderBy("r.id")
      .limit(p.max),
  );
  const selectExpected = prepare(db, (p: HeldParameters & { rates: string; max: number }) =>
    selectHeldWithWorth(p)
      .leftJoin(sql<{ key: string; value: number }>`json_each(${p.rates})`.as("rate"), "rate.key", "r.kind")
      .where("r.absent_by", "is", null)
      .where(sql<SqlBool>`${isFree(p)}`)
      .orderBy(sql`rate.value * (1 + ${worth}) * (${p.now} - r.checked_at)`, "desc")
      .orderBy("r.id")
      .limit(p.max),
  );
  const selectEverything = prepare(db, (p: HeldParameters) =>
    selectHeld(p).orderBy("r.checked_run").orderBy("r.id"),
  );

  const runBeforeCrawl = readRunBeforeCrawl(db, runId);
  /** @param minAgeMillis time since the last check @param earlierRun checks up to this run may be more recent */
  const held = (minAgeMillis: number, earlierRun = 0): HeldParameters => ({
    kinds: JSON.stringify(scope.kinds),
    runId,
    checkedBefore: now() - Math.max(minAgeMillis, skipFresherThanMillis),
    earlierRun,
    fresherThan: now() - skipFresherThanMillis,
    now: now(),
    isCounted: request.allowance().checkPrice === "counted" ? 1 : 0,
  });
  const restMillis = weights.restDays * dayMillis;
  const isAnyLoaded = hasLoaded(db);
  return {
    root: () => selectRoot.get({ runId, checkedBefore: now() - restMillis, now: now() }) ?? null,
    sample: () => (isAnyLoaded ? selectSample.all({ kinds: JSON.stringify(scope.kinds), runId }) : []),
    listings: (hasMoreWork) =>
      selectListings.all({
        ...held(0, runBeforeCrawl),
        freeCheckedBefore: now() - (hasMoreWork ? restMillis : 0),
        countedCheckedBefore: now() - maxStalenessMillis / weights.countedListingChecksPerMaxStaleness,
      }),
    suspects: () => selectSuspects.all({ ...held(0), minSuspicion: weights.minSuspicion }),
    overdue: () => {
      const checkable = held(maxStalenessMillis);
      return mayHold(db, checkable) ? selectOverdue.all(checkable) : [];
    },
    unconfirmed: () =>
      isAnyLoaded ? selectUnconfirmed.all({ ...held(0), max: freeCheckLimit(request).count }) : [],
    expected: (hasMoreWork) => {
      const checkable = held(hasMoreWork ? restMillis : 0, runBeforeCrawl);
      if (!mayHold(db, checkable)) return [];
      return selectExpected.all({
        ...checkable,
        rates: JSON.stringify(Object.fromEntries(readChangeRates(db))),
        max: freeCheckLimit(request).count,
      });
    },
    everything: () => selectEverything.all(held(0)),
  };
}

/**
 * Whether held resources of these ages can exist. The last run has stored when each kind was checked first and last; while a
 * run is open, nothing is known.
 */
function mayHold(db: Connection, { checkedBefore, earlierRun, fresherThan, now }: HeldParameters): boolean {
  const before = earlierRun > 0 ? Math.max(checkedBefore, fresherThan) : checkedBefore;
  const isYounger = ({ held, oldestCheckAt, newestCheckAt }: KindCoverage): boolean =>
    held === 0 || (Date.parse(oldestCheckAt ?? "") > before && Date.parse(newestCheckAt ?? "") <= now);
  return !readStored({ db, asOf: null })?.every(isYounger);
}

/**
 * The last complete run, if a later one was stopped: the crawl that this run continues began after it, and has still to make
 * the checks that run made. Otherwise 0.
 */
function readRunBeforeCrawl(db: Connection, runId: number): number {
  const selectComplete = prepareColumn(db, () =>
    q
      .selectFrom("_run")
      .select((eb) => eb.fn.coalesce(eb.fn.max("id"), eb.lit(0)).as("id"))
      .where("ended_at", "is not", null)
      .where((eb) => eb.or([eb("stopped", "is", null), eb("stopped", "=", "approval")])),
  );
  const selectStopped = prepareColumn(db, (p: { after: number; before: number }) =>
    q.selectFrom("_run").select("id").where("id", ">", p.after).where("id", "<", p.before).limit(1),
  );
  const complete = selectComplete.get() ?? 0;
  return selectStopped.get({ after: complete, before: runId }) === undefined ? 0 : complete;
}

const isFree = ({ isCounted }: Pick<HeldParameters, "isCounted">) =>
  sql<0 | 1>`${isCounted} = 0 and r.etag is not null`;

/** A time in the future comes from a clock that was put back since: the check may be of any age. */
const hasWrongTime = ({ now }: Pick<HeldParameters, "now">) => sql<SqlBool>`r.checked_at > ${now}`;

/** Resources with most bras come first where not all can be checked. */
const worth = sql<number>`coalesce(b.bra_count, m.bra_count, s.bra_count, 0)`;

/**
 * By held resource, how likely it changed with its owner or its owner's owner: one of n children that were not checked since,
 * 1/n. What the last run has checked is left out first: after most runs, that is nearly everything.
 */
const suspicions = ({ kinds }: Pick<HeldParameters, "kinds">) =>
  q
    .with(
      (cte) => cte("candidate").materialized(),
      (db) =>
        db
          .selectFrom("_resource")
          .select(["id", "owner_id", "checked_run"])
          .where("state", "=", "held")
          .where("kind", "in", textsIn(kinds))
          .where("checked_run", "<", (eb) => eb.selectFrom("_run").select(({ fn }) => fn.max("id").as("id"))),
    )
    .with("suspect", (db) =>
      db
        .selectFrom("candidate as r")
        .select(["r.id", "r.owner_id as parent_id"])
        .where("r.checked_run", "<", lastChangeOf("r.owner_id"))
        .union(
          db
            .selectFrom("candidate as r")
            .innerJoin("_resource as o", "o.id", "r.owner_id")
            .select(["r.id", "o.owner_id as parent_id"])
            .where("r.checked_run", "<", lastChangeOf("o.owner_id")),
        ),
    )
    .selectFrom((eb) =>
      eb
        .selectFrom("suspect")
        .select(["id", sql<number>`1.0 / count(*) over (partition by parent_id)`.as("likelihood")])
        .as("each"),
    )
    .select((eb) => ["id", eb.fn.max("likelihood").as("likelihood")])
    .groupBy("id");

/** The run of the newest revision but the first; null if there is none. */
const lastChangeOf = (id: string) =>
  sql<number>`(select from_run from _revision where resource_id = ${sql.ref(id)} and seq > 1 order by seq desc limit 1)`;

/**
 * @returns expected changes a day of one resource, by kind; close to a guess where little was observed. The last run has stored
 * what was observed, unless a run is open.
 */
export function readChangeRates(db: Connection): Map<string, number> {
  const { changesPerDay, changeGuessDays } = weights;
  return new Map(
    [...readObserved(db)].map(([kind, { changes, days }]) => [
      kind,
      (changes + changesPerDay * changeGuessDays) / (days + changeGuessDays),
    ]),
  );
}
