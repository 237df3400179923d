/** How much is due and not done, as far as the mirror knows. */
import type { Connection } from "../../mirror/connection.ts";
import { prepareFrontier } from "../../mirror/frontier.ts";
import { prepareCheckQueries } from "./check-queries.ts";
import { countNewWork } from "./new-work.ts";
import type { PlanRequest } from "./plan-request.ts";

/** What was never fetched, and the checks that are owed: suspects, and what is older than a sweep. */
export function countPending(db: Connection, request: PlanRequest): number {
  const { mode, scope, cycleRun } = request;
  if (mode !== "incremental") return prepareFrontier(db, scope, cycleRun).count();
  const { suspects, overdue } = prepareCheckQueries(db, request);
  const owed = new Set([...suspects(), ...overdue()].map(({ id }) => id));
  return [...countNewWork(db, scope).values()].reduce((sum, count) => sum + count, owed.size);
}
