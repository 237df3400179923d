/**
 * The plan of an account. It is small, and whoever keeps it wants to be sure of all of it: whatever is held is checked in
 * every run. In: the mirror. Out: lists before what they list, what is new before what is held, so that checks that are
 * counted keep nobody from having something at all.
 */
import type { Connection } from "../../mirror/file/connection.ts";
import type { KnownAllowance } from "../rate-limit/known-allowance.ts";
import { prepareCheckQueries } from "./checks.ts";
import type { DueCount } from "./counts.ts";
import { prepareNewWork, preparePlannedNew } from "./new-work.ts";
import type { Planner } from "./planner.ts";
import type { PlannedResource, PlanRequest } from "./request.ts";

/** The kinds that the rest of an account is found by. */
export const leadsFurther: ReadonlySet<string> = new Set(["root", "me", "bras", "measurements"]);

/** Whether a run of this kind checks everything that is held, whatever the evidence. */
export function checksWholeAccount({ area, mode }: Pick<PlanRequest, "area" | "mode">): boolean {
  return area === "account" && mode === "incremental";
}

export function planAccount(db: Connection, request: PlanRequest): Planner {
  const takeNew = prepareNewWork(db, request.scope, "breadth");
  const toPlanned = preparePlannedNew(db);
  return {
    take(limit, isTaken) {
      const checks = accountChecks(db, request).filter(({ id }) => !isTaken(id));
      const lists = checks.filter(({ kind }) => leadsFurther.has(kind));
      if (lists.length > 0) return lists.slice(0, limit);
      const added = takeNew(limit, isTaken);
      return added.length > 0 ? toPlanned(added) : checks.slice(0, limit);
    },
  };
}

/** What is held and was not checked in this run: level by level as far as it leads to others, then the oldest check first. */
export function accountChecks(db: Connection, request: PlanRequest): PlannedResource[] {
  const { kinds } = request.scope;
  const level = ({ kind }: { readonly kind: string }) =>
    leadsFurther.has(kind) ? kinds.indexOf(kind) : kinds.length;
  return prepareCheckQueries(db, request)
    .everything()
    .map(({ isFree, ...due }): PlannedResource => {
      return { ...due, reason: "account", isFree: isFree === 1 && request.allowance().checkPrice === "free" };
    })
    .sort((one, other) => level(one) - level(other));
}

/** How long an account takes. In: what is due in it, and the allowance. Out: requests and days, as far as is known. Pure. */

export interface AccountForecast {
  /** Whether all that leads to others was fetched once: before, nobody knows how much there is. */
  readonly isWhole: boolean;
  /** Counted requests until everything is held and checked, as far as is known. */
  readonly requestsLeft: number;
  /** Days beyond today until then, at this allowance; null where its limit is not known. */
  readonly days: number | null;
}

export function forecastAccount(due: readonly DueCount[], known: KnownAllowance | null): AccountForecast {
  const requestsLeft = due.reduce((sum, { fetch, check, freeChecks }) => sum + fetch + check - freeChecks, 0);
  const afterToday = Math.max(0, requestsLeft - (known?.remaining ?? 0));
  const limit = known?.limit ?? null;
  return {
    isWhole: due.every(({ kind, fetch }) => fetch === 0 || !leadsFurther.has(kind)),
    requestsLeft,
    days: limit === null ? null : Math.ceil(afterToday / Math.max(1, limit)),
  };
}
