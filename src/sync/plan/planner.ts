/**
 * What to ask for next. In: the mirror as it is at that moment, and what the ledger allows. Out: resources in the order
 * in which asking for them is worth most. It sends nothing, writes nothing, and keeps nothing that is not in the mirror
 * but what it has given already.
 */

import { type DueResource, prepareCycleWork } from "../../mirror/check-cycle.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { checksWholeAccount, planAccount } from "./account-plan.ts";
import { planChecks, prepareCheckQueries } from "./checks.ts";
import { hasDueWork, prepareNewWork, preparePlannedNew } from "./new-work.ts";
import { type PlannedResource, type PlanRequest, weights } from "./request.ts";

export interface Planner {
  /**
   * The next resources to ask for, none of which is taken already: at most `limit`, and the checks that go along with what is
   * new. None means that there is nothing to ask for.
   */
  take(limit: number, isTaken: (id: number) => boolean): PlannedResource[];
}

export function createPlanner(db: Connection, request: PlanRequest): Planner {
  if (request.mode !== "incremental") return planCycle(db, request);
  return checksWholeAccount(request) ? planAccount(db, request) : planIncrementally(db, request);
}

function planIncrementally(db: Connection, request: PlanRequest): Planner {
  const { scope, order, allowance } = request;
  const queries = prepareCheckQueries(db, request);
  const ordered = prepareNewWork(db, scope, order);
  const breadth = prepareNewWork(db, scope, "breadth");
  let isCrawling = true;
  const toPlanned = preparePlannedNew(db);
  const checks = planChecks(queries, request, {
    // What failed is no crawl that goes on: it may always fail.
    hasMoreWork: hasDueWork(db, scope),
    get isUnderWay() {
      return isCrawling;
    },
  });

  const takeChecks = (
    isTaken: (id: number) => boolean,
    most: { readonly checks: number; readonly spending: number },
  ): PlannedResource[] => {
    const taken: PlannedResource[] = [];
    for (let spending = 0; taken.length < most.checks && spending < most.spending; ) {
      const next = checks.next();
      if (next.done) break;
      if (next.value === null) {
        if (isCrawling || taken.length > 0) break;
      } else if (!isTaken(next.value.id)) {
        taken.push(next.value);
        spending += next.value.isFree ? weights.costOfFreeCheck : 1;
      }
    }
    return taken;
  };

  return {
    take(limit, isTaken) {
      // The front page says whether this is still the service, before anything else is asked.
      const root = queries.root();
      if (root !== null && !isTaken(root.id)) return [{ ...root, reason: "root", isFree: false }];
      // Where everything can be asked for, its order makes no difference, and level by level is the cheapest.
      const takeNew = allowance().isAmple && order === "value" ? breadth : ordered;
      const added = takeNew(limit, isTaken);
      isCrawling = added.length > 0;
      if (!isCrawling) return takeChecks(isTaken, { checks: limit, spending: limit });
      const spending = Math.floor(added.length * weights.spendingOnChecks);
      const checked = takeChecks(isTaken, { checks: Number.POSITIVE_INFINITY, spending });
      return [...toPlanned(added), ...checked];
    },
  };
}

/** Everything that is known and was not checked since the cycle began: listings before what they list. */
function planCycle(db: Connection, { scope, cycleRun, mode, allowance }: PlanRequest): Planner {
  const frontier = prepareCycleWork(db, scope, { run: cycleRun, mode: mode === "full" ? mode : "verify" });
  const toPlanned = (due: DueResource): PlannedResource => {
    if (mode === "full") return { ...due, etag: null, reason: "full", isFree: false };
    return { ...due, reason: "verify", isFree: due.etag !== null && allowance().checkPrice === "free" };
  };
  return { take: (limit, isTaken) => frontier.take(limit, isTaken).map(toPlanned) };
}
