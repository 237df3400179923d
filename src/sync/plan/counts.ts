/** Counts due resources, for plans, progress and reports. Each fetch may lead to more. */
import { sql } from "kysely";
import type { ResourceState } from "../../../schema/tables.ts";
import { type CheckCycle, type CycleWork, prepareCycleWork, readCycle } from "../../mirror/check-cycle.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { prepareColumn, q, textsIn } from "../../mirror/file/statements.ts";
import { readMissingLinks } from "../../mirror/runs/missing-links.ts";
import { inScope, type Scope } from "../../mirror/scope.ts";
import { planChecks } from "./checks.ts";
import { countNewWork, hasDueWork } from "./new-work.ts";
import { accountChecks, checksWholeAccount, createPlanner, type Planner } from "./planner.ts";
import { prepareCheckQueries } from "./queries/check-queries.ts";
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
export function countDue(db: Connection, request: PlanRequest): DueCount[] {
  const { scope, cycleRun, mode } = request;
  if (mode !== "incremental")
    return countCycle(prepareCycleWork(db, scope, { run: cycleRun, mode }), createPlanner(db, request));
  const fetches = countNewWork(db, scope);
  const checks = new Map<string, number>();
  const freeChecks = new Map<string, number>();
  // The run checks held resources after it has fetched the new ones.
  const crawl = { isRunning: false, hasMoreWork: hasDueWork(db, scope) };
  const planned = checksWholeAccount(request)
    ? accountChecks(db, request)
    : planChecks(prepareCheckQueries(db, request), request, crawl);
  for (const check of planned) {
    if (check === null) continue;
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

function countCycle(work: CycleWork, planner: Planner): DueCount[] {
  const free = new Map<string, number>();
  for (const { kind, isFree } of planner.take(Number.POSITIVE_INFINITY, () => false)) {
    if (isFree) increment(free, kind);
  }
  return work
    .countByKind()
    .map((count) => ({ ...count, freeChecks: Math.min(count.check, free.get(count.kind) ?? 0) }));
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/**
 * The number of resources to fetch, and of due checks: suspects, and resources that exceed the max staleness; in an
 * account, everything held.
 * @param failedIds resources that failed in this run: they are reported as failed and not as pending
 */
export function countPending(
  db: Connection,
  request: PlanRequest,
  failedIds: readonly number[] = [],
): number {
  const { mode, scope, cycleRun } = request;
  if (mode !== "incremental") {
    const work = prepareCycleWork(db, scope, { run: cycleRun, mode });
    return work.count() - countFailed(db, scope, failedIds, ["due", "failed", "held"]);
  }
  const failed = new Set(failedIds);
  const checks = dueCheckIds(db, request).filter((id) => !failed.has(id)).length;
  const fetches = [...countNewWork(db, scope).values()].reduce((sum, count) => sum + count, 0);
  return fetches - countFailed(db, scope, failedIds, ["due", "failed"]) + checks;
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
  const gaps = {
    unfetched: [...countNewWork(db, request.scope).values()].reduce((sum, count) => sum + count, 0),
    missingLinks: readMissingLinks(db, request.scope).length,
  };
  if (checksWholeAccount(request)) {
    // Every run makes these checks anew, so none of them is left to the next one.
    const failed = new Set(failedIds);
    const notChecked = accountChecks(db, unlimited).filter(({ id }) => !failed.has(id)).length;
    return { pending: all - notChecked, notChecked, ...gaps };
  }
  if (request.mode !== "incremental") return { pending: all, notChecked: 0, ...gaps };
  const { listings, expected } = prepareCheckQueries(db, unlimited);
  const counted = new Set([...failedIds, ...dueCheckIds(db, unlimited)]);
  // Optional checks come after all fetches.
  const optional = hasDueWork(db, request.scope) ? [] : expected(hasMoreWork);
  const ids = [...listings(hasMoreWork), ...optional].map(({ id }) => id);
  const notChecked = new Set(ids.filter((id) => !counted.has(id))).size;
  return { pending: all, notChecked, ...gaps };
}

/** The number of due checks: of suspects, and of resources that exceed the max staleness. */
export const countDueChecks = (db: Connection, request: PlanRequest): number =>
  dueCheckIds(db, request).length;

function dueCheckIds(db: Connection, request: PlanRequest): number[] {
  if (checksWholeAccount(request)) return accountChecks(db, request).map(({ id }) => id);
  const { suspects, overdue } = prepareCheckQueries(db, request);
  return [...new Set([...suspects(), ...overdue()].map(({ id }) => id))];
}

/** Counts the failed resources of the scope that are in one of these states. */
function countFailed(
  db: Connection,
  scope: Scope,
  failedIds: readonly number[],
  states: readonly ResourceState[],
): number {
  const count = prepareColumn(db, (p: { failedIds: string; kinds: string; states: string }) =>
    q
      .selectFrom(sql<{ value: number }>`json_each(${p.failedIds})`.as("failed"))
      .innerJoin("_resource as r", "r.id", "failed.value")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("r.kind", "in", textsIn(p.kinds))
      .where("r.state", "in", textsIn<ResourceState>(p.states))
      .where(inScope(scope, "r")),
  );
  const parameters = {
    failedIds: JSON.stringify(failedIds),
    kinds: JSON.stringify(scope.kinds),
    states: JSON.stringify(states),
  };
  return count.get(parameters) ?? 0;
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
