/** What a plan reads of the mirror: in a sync as late as possible, since each response may change it; otherwise once. */
import type { Connection } from "../../../mirror/file/connection.ts";
import type { PlanRequest } from "../request.ts";
import { type CatalogueFacts, prepareCatalogueFacts } from "./catalogue-facts.ts";
import { type CheckQueries, prepareCheckQueries } from "./check-queries.ts";

export interface PlanReads {
  readonly checks: CheckQueries;
  readonly facts: () => CatalogueFacts;
}

export function preparePlanReads(db: Connection, request: PlanRequest): PlanReads {
  return { checks: prepareCheckQueries(db, request), facts: prepareCatalogueFacts(db, request.scope) };
}

/** Each read is made once: for a mirror that does not change meanwhile. */
export function readOnce({ checks, facts }: PlanReads): PlanReads {
  const results = new Map<string, unknown>();
  const once = <Result>(key: string, read: () => Result): Result => {
    if (!results.has(key)) results.set(key, read());
    return results.get(key) as Result;
  };
  return {
    checks: {
      root: () => once("root", checks.root),
      sample: () => once("sample", checks.sample),
      listings: (hasMoreWork) => once(`listings ${hasMoreWork}`, () => checks.listings(hasMoreWork)),
      suspects: () => once("suspects", checks.suspects),
      overdue: () => once("overdue", checks.overdue),
      unconfirmed: () => once("unconfirmed", checks.unconfirmed),
      expected: (hasMoreWork) => once(`expected ${hasMoreWork}`, () => checks.expected(hasMoreWork)),
      everything: () => once("everything", checks.everything),
    },
    facts: () => once("facts", facts),
  };
}
