/** How much is due and not done, as far as the mirror knows. */
import type { Connection } from "../../mirror/connection.ts";
import { isInScope, prepareFrontier, type Scope } from "../../mirror/frontier.ts";
import { prepareCheckQueries } from "./check-queries.ts";
import { countNewWork, hasDueWork } from "./new-work.ts";
import type { PlanRequest } from "./plan-request.ts";

/**
 * What was never fetched, and the checks that are owed: suspects, and what is older than a sweep.
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
      prepareFrontier(db, scope, { run: cycleRun, mode }).count() - countFailed(db, scope, failedIds, states)
    );
  }
  const failed = new Set(failedIds);
  const checks = owedIds(db, request).filter((id) => !failed.has(id)).length;
  const fetches = [...countNewWork(db, scope).values()].reduce((sum, count) => sum + count, 0);
  return fetches - countFailed(db, scope, failedIds, ["due", "failed"]) + checks;
}

/**
 * Checks that nothing owes, and that the mode would have made but for what a run may spend and `maxFreeChecks` and
 * `maxAgeMillis`. The expected ones come when nothing is left to fetch, so that they are none before.
 * @param run.goesOn whether it went on with a crawl when it began, and so left alone what was looked at lately
 */
export function countNotChecked(
  db: Connection,
  request: PlanRequest,
  { goesOn, failedIds }: { readonly goesOn: boolean; readonly failedIds: readonly number[] },
): number {
  if (request.mode !== "incremental") return 0;
  const unlimited = withoutLimits(request);
  const { listings, expected } = prepareCheckQueries(db, unlimited);
  const told = new Set([...failedIds, ...owedIds(db, unlimited)]);
  const left = [...listings(goesOn), ...(hasDueWork(db, request.scope) ? [] : expected(goesOn))];
  return new Set(left.map(({ id }) => id).filter((id) => !told.has(id))).size;
}

/** Everything that the mode has to ask for, however many that is and however lately it was checked. */
export function withoutLimits(request: PlanRequest): PlanRequest {
  return { ...request, maxAgeMillis: 0, maxFreeChecks: Number.MAX_SAFE_INTEGER };
}

function owedIds(db: Connection, request: PlanRequest): number[] {
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
