/** How far a sync is, read from the mirror while it runs. */
import type { Connection } from "../mirror/file/connection.ts";
import type { Scope } from "../mirror/frontier.ts";
import type { MirrorReader } from "../mirror/mirror-reader.ts";
import type { AllowanceState, RequestCounts } from "./allowance.ts";
import { countPending } from "./plan/count-pending.ts";
import { forecastDepths } from "./plan/forecast.ts";
import { countNewWork } from "./plan/new-work.ts";
import type { PlanRequest } from "./plan/plan-request.ts";
import { readForecastFacts } from "./plan/read-forecast-facts.ts";

export interface SyncProgress {
  /** Of each kind in the scope that is known by now: how many are held, of how many. */
  readonly kinds: readonly { readonly kind: string; readonly held: number; readonly known: number }[];
  readonly requests: Readonly<RequestCounts>;
  readonly allowance: AllowanceState;
  /** Resources that are due, as far as the mirror knows yet. */
  readonly pending: number;
  /** Counted requests until nothing is due, with what is expected to be found on the way. */
  readonly countedLeft: number;
  readonly seconds: number;
  readonly requestsPerSecond: number;
}

/** @param run what the run knows of itself */
export function readProgress(
  { db }: MirrorReader,
  request: PlanRequest,
  run: Pick<SyncProgress, "requests" | "allowance" | "seconds">,
): SyncProgress {
  const { requests, seconds } = run;
  const pending = countPending(db, request);
  return {
    ...run,
    kinds: countKinds(db, request.scope),
    pending,
    countedLeft: expectCountedLeft(db, request, pending),
    requestsPerSecond: seconds === 0 ? 0 : requests.sent / seconds,
  };
}

function countKinds(db: Connection, { kinds }: Scope): SyncProgress["kinds"] {
  const counted = db
    .prepare<[], { kind: string; known: number; held: number }>(
      `select kind, sum(state in ('due', 'failed', 'held')) as known, sum(state = 'held') as held
       from _resource group by kind`,
    )
    .all();
  return kinds.flatMap((kind) => counted.filter((row) => row.kind === kind && row.known > 0));
}

function expectCountedLeft(db: Connection, request: PlanRequest, pending: number): number {
  const { scope, mode, allowance } = request;
  const known = [...countNewWork(db, scope).values()].reduce((sum, count) => sum + count, 0);
  const isCounted = mode === "full" || allowance().checkPrice !== "free";
  const checks = isCounted ? pending - known : 0;
  // What a part of the catalogue still leads to is not forecast.
  const facts = scope.belowIds === null ? readForecastFacts(db) : null;
  if (facts === null) return known + checks;
  const left = forecastDepths(facts)
    .flatMap((depth) => depth.kinds)
    .filter(({ kind }) => scope.kinds.includes(kind))
    .reduce((sum, { expected, held }) => sum + expected - held, 0);
  return Math.max(known, left) + checks;
}
