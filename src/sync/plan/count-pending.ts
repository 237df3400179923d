/** How much is due and not done, as far as the mirror knows. */
import type { Connection } from "../../mirror/connection.ts";
import { prepareFrontier } from "../../mirror/frontier.ts";
import { prepareCheckQueries } from "./check-queries.ts";
import { countNewWork } from "./new-work.ts";
import type { PlanRequest } from "./plan-request.ts";

/**
 * What was never fetched, and the checks that are owed: suspects, and what is older than a sweep.
 * @param hasEnded the run has asked for all that it may: a check that is free and was left out is no debt of its
 */
export function countPending(db: Connection, request: PlanRequest, hasEnded = false): number {
  const { mode, scope, cycleRun } = request;
  if (mode !== "incremental") return prepareFrontier(db, scope, cycleRun).count();
  const { suspects, overdue } = prepareCheckQueries(db, request);
  const owed = hasEnded ? [] : [...suspects(), ...overdue()];
  const checks = new Set(owed.map(({ id }) => id)).size;
  return [...countNewWork(db, scope).values()].reduce((sum, count) => sum + count, checks);
}
