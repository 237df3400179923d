/** Counts due resources, for plans, progress and reports. Each fetch may lead to more. */
import { type CheckCycle, type CycleWork, prepareCycleWork, readCycle } from "../../mirror/check-cycle.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { prepareColumn } from "../../mirror/file/statements.ts";
import { q } from "../../mirror/queries/query-builder.ts";
import { readMissingLinks } from "../../mirror/runs/missing-links.ts";
import { type PostponedResource, postponedIds, readPostponed } from "../../mirror/runs/postponed.ts";
import {
  type DueResource,
  inScope,
  type Scope,
  type ScopeParameters,
  scopeParameters,
} from "../../mirror/scope.ts";
import { planChecks } from "./checks.ts";
import { hasDueWork, type NewWork, prepareNewWork } from "./new-work.ts";
import { accountChecks, checksWholeAccount, createPlanner, type Planner } from "./planner.ts";
import { type CheckQueries, prepareCheckQueries } from "./queries/check-queries.ts";
import { countOptionalChecks, readDueCheckIds } from "./queries/count-checks.ts";
import type { PlanRequest } from "./request.ts";

export interface DueCount {
  readonly kind: string;
  /** Never fetched. */
  readonly fetch: number;
  /** Held, and to be checked in the next run. */
  readonly check: number;
  /** Checks that are free if nothing changed. */
  readonly freeChecks: number;
}

/** Due resources by kind. */
export function countDue(
  db: Connection,
  request: PlanRequest,
  checkQueries: CheckQueries = prepareCheckQueries(db, request),
): DueCount[] {
  const { scope, cycleRun, mode, now } = request;
  const postponed = new Map(readPostponed(db, now()).map((resource) => [resource.id, resource]));
  if (mode !== "incremental") {
    const work = prepareCycleWork(db, scope, { run: cycleRun, mode });
    return countCycle(work, createPlanner(db, request), postponed);
  }
  const fetches = new Map(countNewWork(db, scope));
  for (const { kind } of takeOnly(postponed, prepareNewWork(db, scope, "breadth")))
    increment(fetches, kind, -1);
  const checks = new Map<string, number>();
  const freeChecks = new Map<string, number>();
  // The run checks held resources after it has fetched the new ones.
  const crawl = { isRunning: false, hasMoreWork: hasDueWork(db, scope) };
  const planned = checksWholeAccount(request)
    ? accountChecks(db, request)
    : planChecks(checkQueries, request, crawl);
  for (const check of planned) {
    if (check === null || postponed.has(check.id)) continue;
    increment(checks, check.kind);
    if (check.isFree) increment(freeChecks, check.kind);
  }
  return scope.kinds
    .map((kind) => ({
      kind,
      fetch: fetches.get(kind) ?? 0,
      check: checks.get(kind) ?? 0,
      freeChecks: freeChecks.get(kind) ?? 0,
    }))
    .filter(({ fetch, check }) => fetch + check > 0);
}

/** The number of resources that were never fetched, by kind. */
export function countNewWork(db: Connection, scope: Scope): ReadonlyMap<string, number> {
  const count = prepareColumn(db, (p: ScopeParameters & { kind: string }) =>
    q
      .selectFrom("_resource as r")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("r.kind", "=", p.kind)
      .where("r.state", "in", ["due", "failed"])
      .where(inScope(p, "r")),
  );
  const parameters = scopeParameters(scope);
  return new Map(scope.kinds.map((kind) => [kind, count.get({ ...parameters, kind }) ?? 0]));
}

function countCycle(
  work: CycleWork,
  planner: Planner,
  postponed: ReadonlyMap<number, PostponedResource>,
): DueCount[] {
  const free = new Map<string, number>();
  for (const { kind, isFree } of planner.take(Number.POSITIVE_INFINITY, (id) => postponed.has(id))) {
    if (isFree) increment(free, kind);
  }
  const later = takeOnly(postponed, work.take).map(({ id }) => postponed.get(id));
  const laterOf = (kind: string, isHeld: 0 | 1): number =>
    later.filter((resource) => resource?.kind === kind && resource.isHeld === isHeld).length;
  return work
    .countByKind()
    .map(({ kind, ...count }) => {
      const check = count.check - laterOf(kind, 1);
      return {
        kind,
        fetch: count.fetch - laterOf(kind, 0),
        check,
        freeChecks: Math.min(check, free.get(kind) ?? 0),
      };
    })
    .filter(({ fetch, check }) => fetch + check > 0);
}

/** Those of these resources that a function would take. */
function takeOnly(ids: { readonly size: number; has(id: number): boolean }, take: NewWork): DueResource[] {
  return ids.size === 0 ? [] : take(ids.size, (id) => !ids.has(id));
}

function increment(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

/**
 * The number of resources to fetch, and of due checks: suspects, and resources that exceed the max staleness; in an
 * account, everything held.
 * @param failedIds resources that failed in this run: they are reported as failed and not as pending, as postponed ones are
 */
export function countPending(
  db: Connection,
  request: PlanRequest,
  failedIds: readonly number[] = [],
): number {
  const { mode, scope, cycleRun, now } = request;
  const others = new Set([...failedIds, ...postponedIds(db, now())]);
  if (mode !== "incremental") {
    const work = prepareCycleWork(db, scope, { run: cycleRun, mode });
    return work.count() - takeOnly(others, work.take).length;
  }
  const checks = [...dueCheckIds(db, request)].filter((id) => !others.has(id)).length;
  const fetches = [...countNewWork(db, scope).values()].reduce((sum, count) => sum + count, 0);
  return fetches - takeOnly(others, prepareNewWork(db, scope, "breadth")).length + checks;
}

export interface RemainingWork {
  readonly pending: number;
  /** Resources of the scope that are not held: never fetched, whatever the reason. */
  readonly unfetched: number;
  /** Links from and to the scope that the specification requires, and that are missing or unusable. */
  readonly missingLinks: number;
  /** Checks that are not due, and that the run would have made without its limits. */
  readonly notChecked: number;
}

export interface RunSoFar {
  readonly failedIds: readonly number[];
  /** Whether the run continued an earlier crawl, and therefore skipped resources that were checked lately. */
  readonly hasMoreWork: boolean;
}

/** The work that remains for later runs. Due checks stay due until a run has made them, whatever its limits. */
export function countRemaining(
  db: Connection,
  request: PlanRequest,
  { failedIds, hasMoreWork }: RunSoFar,
): RemainingWork {
  const unlimited = { ...request, skipFresherThanMillis: 0, maxFreeChecks: Number.MAX_SAFE_INTEGER };
  const all = countPending(db, unlimited, failedIds);
  const others = [...failedIds, ...postponedIds(db, request.now())];
  const gaps = {
    unfetched: [...countNewWork(db, request.scope).values()].reduce((sum, count) => sum + count, 0),
    missingLinks: readMissingLinks(db, request.scope).length,
  };
  if (checksWholeAccount(request)) {
    // Every run makes these checks anew, so none of them is left to the next one.
    const failed = new Set(others);
    const notChecked = accountChecks(db, unlimited).filter(({ id }) => !failed.has(id)).length;
    return { pending: all - notChecked, notChecked, ...gaps };
  }
  if (request.mode !== "incremental") return { pending: all, notChecked: 0, ...gaps };
  const without = dueCheckIds(db, unlimited);
  for (const id of others) without.add(id);
  const isCrawling = hasDueWork(db, request.scope);
  const notChecked = countOptionalChecks(db, unlimited, { hasMoreWork, isCrawling, without });
  return { pending: all, notChecked, ...gaps };
}

/** The number of due checks: of samples, of suspects, and of resources that exceed the max staleness. */
export function countDueChecks(db: Connection, request: PlanRequest): number {
  const postponed = new Set(postponedIds(db, request.now()));
  return [...dueCheckIds(db, request)].filter((id) => !postponed.has(id)).length;
}

function dueCheckIds(db: Connection, request: PlanRequest): Set<number> {
  if (checksWholeAccount(request)) return new Set(accountChecks(db, request).map(({ id }) => id));
  return readDueCheckIds(db, request);
}

/** The cycle that a run of this mode continues; null if the last one is complete or had another mode. */
export function readCurrentCycle(db: Connection, scope: Scope, mode: CheckCycle["mode"]): CheckCycle | null {
  const cycle = readCycle(db);
  if (cycle === null || cycle.mode !== mode) return null;
  return prepareCycleWork(db, scope, cycle).isDone ? null : cycle;
}

/** With so many requests left, their order makes no difference. */
const ampleRequests = 5000;

/** @param budgetLeft counted requests that the run may still send; null without a budget */
export function hasAmpleAllowance(
  { remaining, isUnlimited }: { readonly remaining: number | null; readonly isUnlimited: boolean },
  budgetLeft: number | null,
): boolean {
  const granted = isUnlimited ? Number.POSITIVE_INFINITY : (remaining ?? 0);
  return Math.min(granted, budgetLeft ?? granted) >= ampleRequests;
}
