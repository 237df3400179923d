/** What a sync did: the object that `sync --json` prints, and that the run log keeps. */
import type { ScopeName } from "../mirror/account/token-scopes.ts";
import type { Scope } from "../mirror/check-cycle.ts";
import type { Connection } from "../mirror/file/connection.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import type { BulkDeletionOfRun, StopReason } from "../mirror/runs/runs.ts";
import { countPending } from "./plan/counts.ts";
import { forecastDepths } from "./plan/forecast.ts";
import { countNewWork } from "./plan/new-work.ts";
import { readForecastFacts } from "./plan/queries/catalogue-facts.ts";
import type { PlanRequest } from "./plan/request.ts";
import type { CheckPrice } from "./rate-limit/infer-prices.ts";
import type { AllowanceState } from "./rate-limit/known-allowance.ts";
import type { RequestCounts } from "./rate-limit/run-budget.ts";

export interface SyncReport {
  readonly run: number;
  /** The mirror's file. */
  readonly mirror: string;
  /**
   * Whether the run came to its end and everything in the scope is held, with no check owed. Optional checks may have been left
   * out all the same, by what the run was told: `resources.notChecked`.
   */
  readonly complete: boolean;
  readonly stopped: StopReason | null;
  readonly requests: Readonly<RequestCounts>;
  readonly resources: ResourceCounts;
  /** Of an account: what the user's token does not grant; what is held of that stays as it was. */
  readonly notGranted?: readonly ScopeName[];
  /** Those of them of which an earlier token brought something. */
  readonly withdrawn?: readonly ScopeName[];
  /** Where so much is absent at once that it waits for approval. */
  readonly masses: readonly BulkDeletionOfRun[];
  readonly allowance: {
    readonly limit: number | null;
    readonly remaining: number | null;
    /** ISO 8601, UTC. */
    readonly resetAt: string | null;
    /** `unknown`: taken for counted, since the service tells nothing that would show it. */
    readonly checkPrice: CheckPrice;
  };
  /** ISO 8601, UTC: when it makes sense to go on; null for at once, or when nobody knows. */
  readonly resumeAt: string | null;
  readonly seconds: number;
}

export interface ResourceCounts {
  new: number;
  changed: number;
  unchanged: number;
  gone: number;
  /** Due and not done: never fetched, or owed a check. */
  pending: number;
  /** Held and not owed a check, which the run would have made but for its limits. */
  notChecked: number;
  failed: number;
  /** Links that are not followed, since they lead to another origin or are no addresses. */
  skipped: number;
  /** Absent, and no tombstones before that is approved. */
  waiting: number;
  /** Collections whose pages do not make one whole; they prove nobody's absence. */
  partial: number;
}

/** How far a sync is, read from the mirror while it runs. */

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

/** Links that are not followed, since they lead to another origin or are no addresses. */
export function countSkippedLinks({ db }: MirrorReader): number {
  const count = db.prepare<[], number>("select count(*) from _issue where code = 'skipped-link'");
  return count.pluck().get() ?? 0;
}
