/**
 * Decides what a sync requests next. In: the current state of the mirror and of the ledger. Out: resources, the most valuable
 * requests first. It sends and writes nothing; its only state is which checks it has planned already.
 */
import { prepareCycleWork } from "../../mirror/check-cycle.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { prepare } from "../../mirror/file/statements.ts";
import { idsIn, q } from "../../mirror/queries/query-builder.ts";
import { type DueResource, dueColumns } from "../../mirror/scope.ts";
import { hasLoaded } from "../../mirror/snapshots/loaded.ts";
import { type PlannedCheck, planChecks } from "./checks.ts";
import { hasDueWork, prepareNewWork, preparePlannedNew } from "./new-work.ts";
import { type CheckQueries, prepareCheckQueries } from "./queries/check-queries.ts";
import { type PlanReads, preparePlanReads } from "./queries/plan-reads.ts";
import { type PlannedResource, type PlanRequest, weights } from "./request.ts";

type Choice = (resourceId: number) => boolean;

export interface Planner {
  /**
   * The next resources to request: at most `limit` new ones, and the checks that go with them. An empty array means that
   * nothing is due.
   * @param isAwaited whether the response is still to come: work that depends on it waits. Default: none is
   */
  take(limit: number, isTaken: Choice, isAwaited?: Choice): PlannedResource[];
}

/** So few that a limited time ends soon after the last of them. */
const checksAtOnce = 256;

export function createPlanner(
  db: Connection,
  request: PlanRequest,
  reads: PlanReads = preparePlanReads(db, request),
): Planner {
  if (checksWholeAccount(request)) return planAccount(db, request);
  const planner =
    request.mode === "incremental" ? planIncrementally(db, request, reads) : planCycle(db, request);
  return hasLoaded(db) ? planSampleFirst(reads.checks, planner) : planner;
}

/** What the service says about a snapshot's sample decides about all that the snapshot brought. */
function planSampleFirst(queries: CheckQueries, planner: Planner): Planner {
  return {
    take(limit, isTaken, isAwaited = () => false) {
      const pending = queries.sample();
      const sample = pending.filter(({ id }) => !isTaken(id));
      if (sample.length === 0) {
        return pending.some(({ id }) => isAwaited(id)) ? [] : planner.take(limit, isTaken);
      }
      const root = queries.root();
      if (root !== null && !isTaken(root.id)) return [{ ...root, reason: "root", isFree: false }];
      return sample.slice(0, limit).map((due) => ({ ...due, reason: "sample", isFree: false }));
    },
  };
}

function planIncrementally(db: Connection, request: PlanRequest, reads: PlanReads): Planner {
  const { scope, order, allowance } = request;
  const ordered = prepareNewWork(db, scope, order, reads.facts);
  const breadth = prepareNewWork(db, scope, "breadth");
  const toPlanned = preparePlannedNew(db);
  const toResources = preparePlannedChecks(db);
  let isCrawling = true;
  const checks = planChecks(reads.checks, request, {
    // Failed resources do not count: they may always fail.
    hasMoreWork: hasDueWork(db, scope),
    get isRunning() {
      return isCrawling;
    },
  });

  const takeChecks = (
    isTaken: (id: number) => boolean,
    max: { readonly checks: number; readonly cost: number },
  ): PlannedResource[] => {
    const taken: PlannedCheck[] = [];
    for (let cost = 0; taken.length < max.checks && cost < max.cost; ) {
      const next = checks.next();
      if (next.done) break;
      if (next.value === null) {
        if (isCrawling || taken.length > 0) break;
      } else if (!isTaken(next.value.id)) {
        taken.push(next.value);
        cost += next.value.isFree ? weights.costOfFreeCheck : 1;
      }
    }
    return toResources(taken);
  };

  return {
    take(limit, isTaken) {
      // Before everything else, the root shows whether this is still the service.
      const root = reads.checks.root();
      if (root !== null && !isTaken(root.id)) return [{ ...root, reason: "root", isFree: false }];
      // If everything can be fetched, the order makes no difference, and level by level is cheapest to plan.
      const takeNew = allowance().isAmple && order === "value" ? breadth : ordered;
      const added = takeNew(limit, isTaken);
      isCrawling = added.length > 0;
      if (!isCrawling) return takeChecks(isTaken, { checks: Math.min(limit, checksAtOnce), cost: limit });
      const cost = Math.floor(added.length * weights.checksPerFetch);
      const checked = takeChecks(isTaken, { checks: Number.POSITIVE_INFINITY, cost });
      return [...toPlanned(added), ...checked];
    },
  };
}

/** Reads what requests of checks need, in the same order. */
function preparePlannedChecks(db: Connection): (checks: readonly PlannedCheck[]) => PlannedResource[] {
  const select = prepare(db, (p: { ids: string }) =>
    q.selectFrom("_resource as r").select(dueColumns).where("r.id", "in", idsIn(p.ids)),
  );
  return (checks) => {
    if (checks.length === 0) return [];
    const rows = select.all({ ids: JSON.stringify(checks.map(({ id }) => id)) });
    const resources = new Map(rows.map((row) => [row.id, row]));
    return checks.flatMap((check) => {
      const due = resources.get(check.id);
      return due === undefined ? [] : [{ ...due, ...check }];
    });
  };
}

/** Everything known that was not checked since the cycle began, lists before their items. */
function planCycle(db: Connection, { scope, cycleRun, mode, allowance }: PlanRequest): Planner {
  const work = prepareCycleWork(db, scope, { run: cycleRun, mode: mode === "full" ? mode : "verify" });
  const toPlanned = (due: DueResource): PlannedResource => {
    if (mode === "full") return { ...due, etag: null, reason: "full", isFree: false };
    return { ...due, reason: "verify", isFree: due.etag !== null && allowance().checkPrice === "free" };
  };
  return { take: (limit, isTaken) => work.take(limit, isTaken).map(toPlanned) };
}

/** Whether every run checks everything held: an account is small, and its user wants all of it to be current. */
export function checksWholeAccount({ area, mode }: Pick<PlanRequest, "area" | "mode">): boolean {
  return area === "account" && mode === "incremental";
}

/** Lists before their items, and new resources before checks, so that counted checks do not delay a first copy. */
function planAccount(db: Connection, request: PlanRequest): Planner {
  const takeNew = prepareNewWork(db, request.scope, "breadth");
  const toPlanned = preparePlannedNew(db);
  return {
    take(limit, isTaken) {
      const checks = accountChecks(db, request).filter(({ id }) => !isTaken(id));
      const lists = checks.filter(({ kind }) => accountLists.has(kind));
      if (lists.length > 0) return lists.slice(0, limit);
      const added = takeNew(limit, isTaken);
      return added.length > 0 ? toPlanned(added) : checks.slice(0, limit);
    },
  };
}

/** The kinds whose links lead to the rest of an account. */
export const accountLists: ReadonlySet<string> = new Set(["root", "me", "bras", "measurements"]);

/** Held resources that were not checked in this run: lists level by level, then the oldest check first. */
export function accountChecks(db: Connection, request: PlanRequest): PlannedResource[] {
  const { kinds } = request.scope;
  const level = ({ kind }: { readonly kind: string }) =>
    accountLists.has(kind) ? kinds.indexOf(kind) : kinds.length;
  const isFreeNow = request.allowance().checkPrice === "free";
  return prepareCheckQueries(db, request)
    .everything()
    .map(({ isFree, ...due }): PlannedResource => {
      return { ...due, reason: "account", isFree: isFree === 1 && isFreeNow };
    })
    .sort((a, b) => level(a) - level(b));
}
