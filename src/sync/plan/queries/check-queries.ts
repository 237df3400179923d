/** Which held resources may be checked, and in which order. Each query reads the mirror as it is at that moment. */
import { type SqlBool, sql } from "kysely";
import { millisOf } from "../../../../schema/tables.ts";
import type { Connection } from "../../../mirror/file/connection.ts";
import { prepare, prepareColumn, q, textsIn } from "../../../mirror/file/statements.ts";
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
  const selectHeld = (p: HeldParameters) =>
    q
      .selectFrom("_resource as r")
      .select(dueColumns)
      .select(isFree(p).as("isFree"))
      .where("r.state", "=", "held")
      .where("r.kind", "in", textsIn(p.kinds))
      .where("r.checked_run", "<", p.runId)
      .where((eb) =>
        eb.or([
          eb("r.checked_at", "<=", p.checkedBefore),
          eb.and([eb("r.checked_run", "<=", p.earlierRun), eb("r.checked_at", "<=", p.fresherThan)]),
          hasWrongTime(p),
        ]),
      )
      .where(inScope(scope, "r"));
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
    selectHeld(p)
      .innerJoin(suspicions.as("suspicion"), "suspicion.id", "r.id")
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
    overdue: () => selectOverdue.all(held(maxStalenessMillis)),
    unconfirmed: () =>
      isAnyLoaded ? selectUnconfirmed.all({ ...held(0), max: freeCheckLimit(request).count }) : [],
    expected: (hasMoreWork) =>
      selectExpected.all({
        ...held(hasMoreWork ? restMillis : 0, runBeforeCrawl),
        rates: JSON.stringify(Object.fromEntries(readChangeRates(db))),
        max: freeCheckLimit(request).count,
      }),
    everything: () => selectEverything.all(held(0)),
  };
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

/** By resource, how likely it changed with its owner or its owner's owner: one of n children, 1/n. */
const suspicions = q
  .with("changed", (db) =>
    db
      .selectFrom("_revision")
      .select((eb) => ["resource_id as id", eb.fn.max("from_run").as("run_id")])
      .where("seq", ">", 1)
      .groupBy("resource_id"),
  )
  .with("suspect", (db) =>
    db
      .selectFrom("changed as c")
      .innerJoin("_resource as r", "r.owner_id", "c.id")
      .select(["r.id", "c.id as parent_id"])
      .whereRef("r.checked_run", "<", "c.run_id")
      .union(
        db
          .selectFrom("changed as c")
          .innerJoin("_resource as o", "o.owner_id", "c.id")
          .innerJoin("_resource as r", "r.owner_id", "o.id")
          .select(["r.id", "c.id as parent_id"])
          .whereRef("r.checked_run", "<", "c.run_id"),
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

/** @returns expected changes a day of one resource, by kind; close to a guess where little was observed */
export function readChangeRates(db: Connection): Map<string, number> {
  // Two queries: most resources never changed, so the first joins few of them.
  const changed = q
    .selectFrom("_revision")
    .select(["resource_id as id", sql<number>`max(seq) - 1`.as("changes")])
    .groupBy("resource_id")
    .having(sql<SqlBool>`max(seq) > 1`);
  const selectChanges = prepare(db, () =>
    q
      .selectFrom(changed.as("v"))
      .innerJoin("_resource as r", "r.id", "v.id")
      .select(["r.kind", sql<number>`total(v.changes)`.as("changes")])
      .where("r.checked_at", "is not", null)
      .groupBy("r.kind"),
  );
  const runs = q
    .selectFrom("_run")
    .select(["id", sql<number>`${sql.raw(millisOf("started_at"))}`.as("startedAt")]);
  const selectDays = prepare(db, () =>
    q
      .with(
        (cte) => cte("f").materialized(),
        () => runs,
      )
      .selectFrom("_resource as r")
      .innerJoin("f", "f.id", "r.first_run")
      .select(["r.kind", sql<number>`total(max(0, r.checked_at - f.startedAt)) / ${dayMillis}`.as("days")])
      .where("r.checked_at", "is not", null)
      .groupBy("r.kind"),
  );
  const changesOf = new Map(selectChanges.all().map(({ kind, changes }) => [kind, changes]));
  const { changesPerDay, changeGuessDays } = weights;
  return new Map(
    selectDays.all().map(({ kind, days }) => {
      const changes = changesOf.get(kind) ?? 0;
      return [kind, (changes + changesPerDay * changeGuessDays) / (days + changeGuessDays)];
    }),
  );
}
