/** How much is due and not done, as far as the mirror knows. */
import type { Connection } from "../../mirror/connection.ts";
import { isInScope, prepareFrontier, type Scope } from "../../mirror/frontier.ts";
import { prepareCheckQueries } from "./check-queries.ts";
import { countNewWork } from "./new-work.ts";
import type { PlanRequest } from "./plan-request.ts";

export interface RunSoFar {
  /** What failed in this run is told as failed, not as pending. */
  readonly failedIds: readonly number[];
  /** The run has asked for all that it may: a check that is free and was left out is no debt of its. */
  readonly hasEnded: boolean;
}

/** What was never fetched, and the checks that are owed: suspects, and what is older than a sweep. */
export function countPending(
  db: Connection,
  request: PlanRequest,
  { failedIds, hasEnded }: RunSoFar = { failedIds: [], hasEnded: false },
): number {
  const { mode, scope, cycleRun } = request;
  if (mode !== "incremental") {
    const states = ["due", "failed", "held"];
    return (
      prepareFrontier(db, scope, { run: cycleRun, mode }).count() - countFailed(db, scope, failedIds, states)
    );
  }
  const { suspects, overdue } = prepareCheckQueries(db, request);
  const failed = new Set(failedIds);
  const owed = hasEnded ? [] : [...suspects(), ...overdue()].filter(({ id }) => !failed.has(id));
  const checks = new Set(owed.map(({ id }) => id)).size;
  const fetches = [...countNewWork(db, scope).values()].reduce((sum, count) => sum + count, 0);
  return fetches - countFailed(db, scope, failedIds, ["due", "failed"]) + checks;
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
