/** Which held resources may be checked, and in which order. Each query reads the mirror as it is at that moment. */
import { sql } from "kysely";
import type { Connection } from "../../../mirror/file/connection.ts";
import { prepare, prepareColumn } from "../../../mirror/file/statements.ts";
import { q, textsIn } from "../../../mirror/queries/query-builder.ts";
import {
  type DueResource,
  dueColumns,
  inScope,
  type ScopeParameters,
  scopeParameters,
} from "../../../mirror/scope.ts";
import { hasLoaded, isCurrent, isUnconfirmed } from "../../../mirror/snapshots/loaded.ts";
import { isPendingSample } from "../../../mirror/snapshots/sample.ts";
import { freeCheckLimit, type PlanRequest } from "../request.ts";
import {
  type CheckRow,
  checkColumns,
  type HeldParameters,
  hasWrongTime,
  heldParameters,
  isCheckable,
  isFree,
  isFreeAndPresent,
  isListing,
  type ListingParameters,
  listingParameters,
  mayHold,
  readRunBeforeCrawl,
  restMillis,
  type SuspectParameters,
  selectSuspected,
  suspectParameters,
  worth,
} from "./check-conditions.ts";
import { prepareExpectedChecks } from "./expected-checks.ts";
import { checkNumber, checksFrom } from "./many-checks.ts";

export interface CheckQueries {
  /** The root, before its first fetch and about once a day. */
  root(): DueResource | null;
  /** The part of the samples of snapshots that was not fetched yet: counted requests. */
  sample(): DueCheck[];
  /**
   * The root, brands and lists of brands and models: few resources that show changes of many others.
   * @param hasMoreWork leaves out resources that the crawl which this run continues has checked lately
   */
  listings(hasMoreWork: boolean): CheckRow[];
  /** Resources of which the owner, or the owner's owner, changed since their last check. */
  suspects(): Iterable<CheckRow>;
  /** Resources that exceed the max staleness, oldest first. Only here are failed checks repeated, since they cost. */
  overdue(): Iterable<CheckRow>;
  /** Free checks of bodies from snapshots that the service has not confirmed, by worth and age. */
  unconfirmed(): CheckRow[];
  /**
   * All other free checks, by expected changes, worth and age.
   * @param hasMoreWork as for `listings`
   */
  expected(hasMoreWork: boolean): CheckRow[];
  /** All held resources, oldest check first. */
  everything(): DueCheck[];
}

/** A check of one of few resources, with all that a request needs. */
export type DueCheck = CheckRow & DueResource;

export function prepareCheckQueries(db: Connection, request: PlanRequest): CheckQueries {
  const { runId, maxStalenessMillis, now } = request;
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
  const selectListings = prepare(db, (p: ListingParameters) =>
    selectWithWorth(p)
      .where(isListing(p))
      .orderBy(sql`r.kind = 'root'`, "desc")
      .orderBy(sql`r.kind = 'brands'`, "desc")
      .orderBy("r.checked_run")
      .orderBy(worth(), "desc")
      .orderBy("r.id"),
  );
  const selectSuspects = prepareColumn(db, (p: SuspectParameters) =>
    selectSuspected(p)
      .select(checkNumber(p).as("number"))
      .leftJoin("_brand as b", "b.id", "r.id")
      .leftJoin("_model as m", "m.id", "r.id")
      .leftJoin("_size as s", "s.id", "r.id")
      .orderBy(sql`suspicion.likelihood * (1 + ${worth()})`, "desc")
      .orderBy("r.id"),
  );
  const selectOverdue = prepareColumn(db, (p: HeldParameters) =>
    heldWithWorth(p)
      .select(checkNumber(p).as("number"))
      .orderBy("r.checked_at")
      .orderBy(worth(), "desc")
      .orderBy("r.id"),
  );
  const selectUnconfirmed = prepare(db, (p: HeldParameters & { max: number }) =>
    selectWithWorth(p)
      .innerJoin("_loaded as l", "l.resource_id", "r.id")
      .where(isUnconfirmed())
      .where(isCurrent())
      .where(isFreeAndPresent(p))
      .orderBy(sql`(1 + ${worth()}) * (${p.now} - r.checked_at)`, "desc")
      .orderBy("r.id")
      .limit(p.max),
  );
  const selectEverything = prepare(db, (p: HeldParameters) =>
    q
      .selectFrom("_resource as r")
      .select(dueColumns)
      .select(isFree(p).as("isFree"))
      .where(isCheckable(p))
      .orderBy("r.checked_run")
      .orderBy("r.id"),
  );

  const readExpected = prepareExpectedChecks(db, request);
  const runBeforeCrawl = readRunBeforeCrawl(db, runId);
  const held = (minAgeMillis: number, earlierRun?: number) =>
    heldParameters(request, minAgeMillis, earlierRun);
  const isAnyLoaded = hasLoaded(db);
  return {
    root: () => selectRoot.get({ runId, checkedBefore: now() - restMillis, now: now() }) ?? null,
    sample: prepareSample(db, request, isAnyLoaded),
    listings: (hasMoreWork) => selectListings.all(listingParameters(request, runBeforeCrawl, hasMoreWork)),
    suspects: () => checksFrom(selectSuspects.all(suspectParameters(request))),
    overdue: () => {
      const checkable = held(maxStalenessMillis);
      return mayHold(db, checkable) ? checksFrom(selectOverdue.all(checkable)) : [];
    },
    unconfirmed: () =>
      isAnyLoaded ? selectUnconfirmed.all({ ...held(0), max: freeCheckLimit(request).count }) : [],
    expected: (hasMoreWork) => {
      const checkable = held(hasMoreWork ? restMillis : 0, runBeforeCrawl);
      return mayHold(db, checkable) ? readExpected(checkable) : [];
    },
    everything: () => selectEverything.all(held(0)),
  };
}

const selectWithWorth = (p: HeldParameters) =>
  heldWithWorth(p).select(checkColumns).select(isFree(p).as("isFree"));

const heldWithWorth = (p: HeldParameters) =>
  q
    .selectFrom("_resource as r")
    .where(isCheckable(p))
    .leftJoin("_brand as b", "b.id", "r.id")
    .leftJoin("_model as m", "m.id", "r.id")
    .leftJoin("_size as s", "s.id", "r.id");

/** `CheckQueries.sample`. */
export function prepareSample(
  db: Connection,
  { scope, runId }: Pick<PlanRequest, "scope" | "runId">,
  isAnyLoaded = hasLoaded(db),
): () => DueCheck[] {
  const select = prepare(db, (p: ScopeParameters & { kinds: string; runId: number }) =>
    q
      .selectFrom("_loaded as l")
      .innerJoin("_resource as r", "r.id", "l.resource_id")
      .select(dueColumns)
      .select(sql<0>`0`.as("isFree"))
      .where("r.state", "=", "held")
      .where("r.kind", "in", textsIn(p.kinds))
      .where("r.checked_run", "<", p.runId)
      .where("r.absent_by", "is", null)
      .where(isPendingSample())
      .where(inScope(p, "r"))
      .orderBy("r.id"),
  );
  const parameters = { ...scopeParameters(scope), kinds: JSON.stringify(scope.kinds), runId };
  return () => (isAnyLoaded ? select.all(parameters) : []);
}
