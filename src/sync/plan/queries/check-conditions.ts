/** Conditions of checks, as parts of statements, and their parameters. */
import { type SqlBool, sql } from "kysely";
import type { Connection } from "../../../mirror/file/connection.ts";
import { prepareColumn } from "../../../mirror/file/statements.ts";
import { q, textsIn } from "../../../mirror/queries/query-builder.ts";
import type { KindCoverage } from "../../../mirror/runs/count-kinds.ts";
import { readStored } from "../../../mirror/runs/coverage.ts";
import { type DueResource, inScope, type ScopeParameters, scopeParameters } from "../../../mirror/scope.ts";
import { dayMillis } from "../../../platform/clock.ts";
import { type PlanRequest, weights } from "../request.ts";

/** Without an ample allowance, a run that continues a crawl leaves out what was checked within this time. */
export const restMillis = weights.restDays * dayMillis;

/** A check. The URL and the validator are read when it is requested: a plan may hold as many checks as the mirror has resources. */
export interface CheckRow extends Pick<DueResource, "id" | "kind"> {
  /** Whether the check is free if nothing changed, as far as is known. */
  readonly isFree: 0 | 1;
}

/** The columns of a `CheckRow` but `isFree`, from `_resource as r`. */
export const checkColumns = ["r.id", "r.kind"] as const;

export interface HeldParameters extends ScopeParameters {
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

/** @param minAgeMillis time since the last check @param earlierRun checks up to this run may be more recent */
export function heldParameters(
  { scope, runId, skipFresherThanMillis, now, allowance }: PlanRequest,
  minAgeMillis: number,
  earlierRun = 0,
): HeldParameters {
  return {
    ...scopeParameters(scope),
    kinds: JSON.stringify(scope.kinds),
    runId,
    checkedBefore: now() - Math.max(minAgeMillis, skipFresherThanMillis),
    earlierRun,
    fresherThan: now() - skipFresherThanMillis,
    now: now(),
    isCounted: allowance().checkPrice === "counted" ? 1 : 0,
  };
}

/** Whether `_resource as r` is held, and was not checked in this run and not lately. */
export const isCheckable = (p: HeldParameters) =>
  sql<SqlBool>`(r.state = 'held' and r.kind in ${textsIn(p.kinds)} and r.checked_run < ${p.runId}
    and (r.checked_at <= ${p.checkedBefore} or ${hasWrongTime(p)}
      or (r.checked_run <= ${p.earlierRun} and r.checked_at <= ${p.fresherThan}))
    and ${inScope(p, "r")})`;

export interface ListingParameters extends HeldParameters {
  freeCheckedBefore: number;
  countedCheckedBefore: number;
}

export function listingParameters(
  request: PlanRequest,
  runBeforeCrawl: number,
  hasMoreWork: boolean,
): ListingParameters {
  const { now, maxStalenessMillis } = request;
  return {
    ...heldParameters(request, 0, runBeforeCrawl),
    freeCheckedBefore: now() - (hasMoreWork ? restMillis : 0),
    countedCheckedBefore: now() - maxStalenessMillis / weights.countedListingChecksPerMaxStaleness,
  };
}

/** Whether it is a list or brand whose turn it is. */
export const isListing = (p: ListingParameters) =>
  sql<SqlBool>`(r.absent_by is null and r.kind in ('root', 'brands', 'brand', 'models')
    and (r.checked_at <= iif(${isFree(p)}, ${p.freeCheckedBefore}, ${p.countedCheckedBefore})
      or (${isFree(p)} and r.checked_run <= ${p.earlierRun}) or ${hasWrongTime(p)}))`;

/** Whether a check of it is free. */
export const isFreeAndPresent = (p: HeldParameters) => sql<SqlBool>`(r.absent_by is null and ${isFree(p)})`;

export interface SuspectParameters extends HeldParameters {
  minSuspicion: number;
}

export const suspectParameters = (request: PlanRequest): SuspectParameters => ({
  ...heldParameters(request, 0),
  minSuspicion: weights.minSuspicion,
});

/** Suspects, as `suspicion` with `_resource as r`: in this order of tables, since they are few. */
export const selectSuspected = (p: SuspectParameters) =>
  q
    .selectFrom(suspicions(p).as("suspicion"))
    .crossJoin("_resource as r")
    .whereRef("r.id", "=", "suspicion.id")
    .where(isCheckable(p))
    .where("r.absent_by", "is", null)
    .where((eb) => eb.or([sql<SqlBool>`(${isFree(p)})`, eb("suspicion.likelihood", ">=", p.minSuspicion)]));

/**
 * Whether held resources of these ages can exist. The last run has stored when each kind was checked first and last; while a
 * run is open, nothing is known.
 */
export function mayHold(
  db: Connection,
  { checkedBefore, earlierRun, fresherThan, now }: HeldParameters,
): boolean {
  const before = earlierRun > 0 ? Math.max(checkedBefore, fresherThan) : checkedBefore;
  const isYounger = ({ held, oldestCheckAt, newestCheckAt }: KindCoverage): boolean =>
    held === 0 || (Date.parse(oldestCheckAt ?? "") > before && Date.parse(newestCheckAt ?? "") <= now);
  return !readStored({ db, asOf: null })?.every(isYounger);
}

/**
 * The last complete run, if a later one was stopped: the crawl that this run continues began after it, and has still to make
 * the checks that run made. Otherwise 0.
 */
export function readRunBeforeCrawl(db: Connection, runId: number): number {
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

export const isFree = ({ isCounted }: Pick<HeldParameters, "isCounted">) =>
  sql<0 | 1>`${isCounted} = 0 and r.etag is not null`;

/** A time in the future comes from a clock that was put back since: the check may be of any age. */
export const hasWrongTime = ({ now }: Pick<HeldParameters, "now">) => sql<SqlBool>`r.checked_at > ${now}`;

/** Resources with most bras come first where not all can be checked. */
export const worth = () => sql<number>`coalesce(b.bra_count, m.bra_count, s.bra_count, 0)`;

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
