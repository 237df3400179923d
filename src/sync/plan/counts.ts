/** What is due by kind, as far as the mirror knows; each fetch may lead to more. */

import {
  type CheckCycle,
  type CycleWork,
  isInScope,
  prepareCycleWork,
  readCycle,
  type Scope,
} from "../../mirror/check-cycle.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { accountChecks, checksWholeAccount } from "./account-plan.ts";
import { planChecks, prepareCheckQueries } from "./checks.ts";
import { countNewWork, hasDueWork } from "./new-work.ts";
import { createPlanner, type Planner } from "./planner.ts";
import type { PlanRequest } from "./request.ts";

export interface DueCount {
  readonly kind: string;
  /** Never fetched. */
  readonly fetch: number;
  /** Held, and to be checked in the next run. */
  readonly check: number;
  /** How many of these checks cost nothing where nothing changed. */
  readonly freeChecks: number;
}

export function countDue(db: Connection, request: PlanRequest): DueCount[] {
  const { scope, cycleRun, mode } = request;
  if (mode !== "incremental")
    return countCycle(prepareCycleWork(db, scope, { run: cycleRun, mode }), createPlanner(db, request));
  const fetches = countNewWork(db, scope);
  const checks = new Map<string, number>();
  const freeChecks = new Map<string, number>();
  // Once what is new is fetched, the run goes on to check what is held.
  const crawl = { isUnderWay: false, hasMoreWork: hasDueWork(db, scope) };
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

function countCycle(frontier: CycleWork, planner: Planner): DueCount[] {
  const free = new Map<string, number>();
  for (const { kind, isFree } of planner.take(Number.POSITIVE_INFINITY, () => false)) {
    if (isFree) increment(free, kind);
  }
  return frontier
    .countByKind()
    .map((count) => ({ ...count, freeChecks: Math.min(count.check, free.get(count.kind) ?? 0) }));
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** How much is due and not done, as far as the mirror knows. */

/**
 * What was never fetched, and the checks that are owed: suspects, and what is older than max staleness; of an account, all of it.
 * @param failedIds what failed in this run, which is told as failed and not as pending
 */
export function countPending(
  db: Connection,
  request: PlanRequest,
  failedIds: readonly number[] = [],
): number {
  const { mode, scope, cycleRun } = request;
  if (mode !== "incremental") {
    const states = ["due", "failed", "held"];
    return (
      prepareCycleWork(db, scope, { run: cycleRun, mode }).count() - countFailed(db, scope, failedIds, states)
    );
  }
  const failed = new Set(failedIds);
  const checks = owedIds(db, request).filter((id) => !failed.has(id)).length;
  const fetches = [...countNewWork(db, scope).values()].reduce((sum, count) => sum + count, 0);
  return fetches - countFailed(db, scope, failedIds, ["due", "failed"]) + checks;
}

export interface RemainingWork {
  readonly pending: number;
  /** Checks that nothing owes, and that the run would have made but for its limits. */
  readonly notChecked: number;
}

export interface RunSoFar {
  readonly failedIds: readonly number[];
  /** Whether it went on with a crawl when it began, and so left alone what was looked at lately. */
  readonly hasMoreWork: boolean;
}

/** What a run leaves behind as it ends. What is owed stays so, whatever it was limited to, until some run has done it. */
export function countLeft(
  db: Connection,
  request: PlanRequest,
  { failedIds, hasMoreWork }: RunSoFar,
): RemainingWork {
  const unlimited = { ...request, skipFresherThanMillis: 0, maxFreeChecks: Number.MAX_SAFE_INTEGER };
  const all = countPending(db, unlimited, failedIds);
  if (checksWholeAccount(request)) {
    // Every run makes these checks anew, so none of them is left to the next one.
    const failed = new Set(failedIds);
    const notChecked = accountChecks(db, unlimited).filter(({ id }) => !failed.has(id)).length;
    return { pending: all - notChecked, notChecked };
  }
  if (request.mode !== "incremental") return { pending: all, notChecked: 0 };
  const { listings, expected } = prepareCheckQueries(db, unlimited);
  const told = new Set([...failedIds, ...owedIds(db, unlimited)]);
  // What is merely expected is checked once nothing is left to fetch.
  const left = [...listings(hasMoreWork), ...(hasDueWork(db, request.scope) ? [] : expected(hasMoreWork))];
  const notChecked = new Set(left.map(({ id }) => id).filter((id) => !told.has(id))).size;
  return { pending: all, notChecked };
}

function owedIds(db: Connection, request: PlanRequest): number[] {
  if (checksWholeAccount(request)) return accountChecks(db, request).map(({ id }) => id);
  const { suspects, overdue } = prepareCheckQueries(db, request);
  return [...new Set([...suspects(), ...overdue()].map(({ id }) => id))];
}

/** How many of those that failed are in the scope, and in one of the states that are counted. */
function countFailed(
  db: Connection,
  scope: Scope,
  failedIds: readonly number[],
  states: readonly string[],
): number {
  const count = db.prepare<[string, string, string], number>(
    `select count(*) from json_each(?) failed join _resource r on r.id = failed.value
     where r.kind in (select value from json_each(?)) and r.state in (select value from json_each(?))
       and ${isInScope(scope, "r")}`,
  );
  const lists = [failedIds, scope.kinds, states].map((list) => JSON.stringify(list));
  return count.pluck().get(...(lists as [string, string, string])) ?? 0;
}

/** The cycle that a run of this mode goes on with; null when the last one is over, or was of another mode. */
export function readCurrentCycle(db: Connection, scope: Scope, mode: CheckCycle["mode"]): CheckCycle | null {
  const cycle = readCycle(db);
  if (cycle === null || cycle.mode !== mode) return null;
  return prepareCycleWork(db, scope, cycle).isDone ? null : cycle;
}

/** With so many requests left, their order makes no difference. */
const plentifulRequests = 5000;

/** @param budgetLeft counted requests that the run may still send; null for as many as there are */
export function hasAmpleAllowance(
  { remaining, isUnlimited }: { readonly remaining: number | null; readonly isUnlimited: boolean },
  budgetLeft: number | null,
): boolean {
  const granted = isUnlimited ? Number.POSITIVE_INFINITY : (remaining ?? 0);
  return Math.min(granted, budgetLeft ?? granted) >= plentifulRequests;
}
