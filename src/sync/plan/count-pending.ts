/** How much is due and not done, as far as the mirror knows. */
import type { Connection } from "../../mirror/file/connection.ts";
import { isInScope, prepareFrontier, type Scope } from "../../mirror/frontier.ts";
import { prepareCheckQueries } from "./check-queries.ts";
import { countNewWork, hasDueWork } from "./new-work.ts";
import { accountChecks, checksWholeAccount } from "./plan-account.ts";
import type { PlanRequest } from "./plan-request.ts";

/**
 * What was never fetched, and the checks that are owed: suspects, and what is older than a sweep; of an account, all of it.
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

export interface Left {
  readonly pending: number;
  /** Checks that nothing owes, and that the run would have made but for its limits. */
  readonly notChecked: number;
}

export interface RunSoFar {
  readonly failedIds: readonly number[];
  /** Whether it went on with a crawl when it began, and so left alone what was looked at lately. */
  readonly goesOn: boolean;
}

/** What a run leaves behind as it ends. What is owed stays so, whatever it was limited to, until some run has done it. */
export function countLeft(db: Connection, request: PlanRequest, { failedIds, goesOn }: RunSoFar): Left {
  const unlimited = { ...request, maxAgeMillis: 0, maxFreeChecks: Number.MAX_SAFE_INTEGER };
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
  const left = [...listings(goesOn), ...(hasDueWork(db, request.scope) ? [] : expected(goesOn))];
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
