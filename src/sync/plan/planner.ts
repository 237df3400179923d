/**
 * What to ask for next. In: the mirror as it is at that moment, and what the ledger allows. Out: resources in the order
 * in which asking for them is worth most. It sends nothing, writes nothing, and keeps nothing that is not in the mirror
 * but what it has given already.
 */
import type { Connection } from "../../mirror/connection.ts";
import { type DueResource, prepareFrontier } from "../../mirror/frontier.ts";
import { prepareCheckQueries } from "./check-queries.ts";
import { planChecks } from "./checks.ts";
import { hasDueWork, prepareNewWork } from "./new-work.ts";
import type { PlannedResource, PlanRequest, Reason } from "./plan-request.ts";
import { weights } from "./weights.ts";

export interface Planner {
  /** The next resources to ask for, at most `limit`, none of which is taken already. */
  take(limit: number, isTaken: (id: number) => boolean): PlannedResource[];
}

export function createPlanner(db: Connection, request: PlanRequest): Planner {
  return request.mode === "incremental" ? planIncrementally(db, request) : planCycle(db, request);
}

function planIncrementally(db: Connection, request: PlanRequest): Planner {
  const { scope, order, allowance } = request;
  const queries = prepareCheckQueries(db, request);
  const ordered = prepareNewWork(db, scope, order);
  const breadth = prepareNewWork(db, scope, "breadth");
  let isCrawling = true;
  const checks = planChecks(queries, request, {
    // What failed is no crawl that goes on: it may always fail.
    goesOn: hasDueWork(db, scope),
    get isUnderWay() {
      return isCrawling;
    },
  });

  const takeChecks = (limit: number, isTaken: (id: number) => boolean): PlannedResource[] => {
    const taken: PlannedResource[] = [];
    while (taken.length < limit) {
      const next = checks.next();
      if (next.done) break;
      if (next.value !== null && !isTaken(next.value.id)) taken.push(next.value);
      if (next.value === null && (isCrawling || taken.length > 0)) break;
    }
    return taken;
  };

  return {
    take(limit, isTaken) {
      // The front page says whether this is still the service, before anything else is asked.
      const root = queries.root();
      if (root !== null && !isTaken(root.id)) return [{ ...root, reason: "root" }];
      // Where everything can be asked for, its order makes no difference, and level by level is the cheapest.
      const takeNew = allowance().isPlentiful && order === "value" ? breadth : ordered;
      const added = takeNew(limit, isTaken);
      isCrawling = added.length > 0;
      if (!isCrawling) return takeChecks(limit, isTaken);
      const checked = takeChecks(Math.floor(limit * weights.shareOfChecks), isTaken);
      return [...added.slice(0, limit - checked.length).map(withReason("new")), ...checked];
    },
  };
}

/** Everything that is known and was not checked since the cycle began: listings before what they list. */
function planCycle(db: Connection, { scope, cycleRun, mode }: PlanRequest): Planner {
  const frontier = prepareFrontier(db, scope, cycleRun);
  const reason = mode === "full" ? "full" : "verify";
  return {
    take: (limit, isTaken) =>
      frontier
        .take(limit, isTaken)
        .map(withReason(reason))
        .map((due) => (mode === "full" ? { ...due, etag: null } : due)),
  };
}

function withReason(reason: Reason): (due: DueResource) => PlannedResource {
  return (due) => ({ ...due, reason });
}
