/** What is due by kind, as far as the mirror knows; each fetch may lead to more. */
import type { Connection } from "../../mirror/file/connection.ts";
import { type Frontier, prepareFrontier } from "../../mirror/frontier.ts";
import { prepareCheckQueries } from "./check-queries.ts";
import { planChecks } from "./checks.ts";
import { countNewWork, hasDueWork } from "./new-work.ts";
import { accountChecks, checksWholeAccount } from "./plan-account.ts";
import type { PlanRequest } from "./plan-request.ts";
import { createPlanner, type Planner } from "./planner.ts";

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
    return countCycle(prepareFrontier(db, scope, { run: cycleRun, mode }), createPlanner(db, request));
  const fetches = countNewWork(db, scope);
  const checks = new Map<string, number>();
  const freeChecks = new Map<string, number>();
  // Once what is new is fetched, the run goes on to check what is held.
  const crawl = { isUnderWay: false, goesOn: hasDueWork(db, scope) };
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

function countCycle(frontier: Frontier, planner: Planner): DueCount[] {
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
