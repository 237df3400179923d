/** The report of a sync, as `sync --json` prints it, and its progress. */
import { sql } from "kysely";
import type { Depth } from "../../schema/kind.ts";
import type { ScopeName } from "../mirror/account/token-scopes.ts";
import type { Drift } from "../mirror/derive/drift.ts";
import type { Connection } from "../mirror/file/connection.ts";
import { prepare, prepareColumn } from "../mirror/file/statements.ts";
import { q } from "../mirror/queries/query-builder.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import type { BulkDeletionOfRun, StopReason } from "../mirror/runs/runs.ts";
import type { Scope } from "../mirror/scope.ts";
import type { Confirmation } from "../mirror/snapshots/loaded.ts";
import { countNewWork, countPending } from "./plan/counts.ts";
import { forecastDepths } from "./plan/forecast.ts";
import { readForecastFacts } from "./plan/queries/catalogue-facts.ts";
import type { PlanRequest } from "./plan/request.ts";
import type { CheckPrice } from "./rate-limit/infer-prices.ts";
import type { AllowanceState, AllowanceSummary } from "./rate-limit/known-allowance.ts";
import type { RequestCounts } from "./rate-limit/run-budget.ts";

/** What a sync did, and what is left to do. */
export interface SyncReport {
  /** The number of this run. */
  readonly run: number;
  /** The mirror's file. */
  readonly mirror: string;
  /** What it was about; absent for an account, whose scope is everything. */
  readonly scope?: {
    readonly depth: Depth;
    /** As they were given; none for all. */
    readonly brands: readonly string[];
  };
  /** Whether everything known in the scope is held, every list is consistent and linked, and no deletion awaits approval. */
  readonly complete: boolean;
  /** Complete, and the run left nothing to do: nothing is pending, failed or left unchecked. */
  readonly upToDate: boolean;
  /** Why it ended although something was due; null if nothing was. */
  readonly stopped: StopReason | null;
  readonly requests: Readonly<RequestCounts>;
  readonly resources: ResourceCounts;
  /** For an account: scopes that the user's token lacks. Their held data stays unchanged. */
  readonly notGranted?: readonly ScopeName[];
  /** Those of them that an earlier token granted. */
  readonly withdrawn?: readonly ScopeName[];
  /** What this run saw first in the service's responses, and the specification does not have. */
  readonly drift: readonly Drift[];
  /** Only if something was loaded from snapshots. */
  readonly snapshots?: Confirmation & {
    /** Bodies of snapshots in whose place the service sent others in this run. */
    readonly differences: number;
  };
  /** Deletions that are so many at once that they wait for approval. */
  readonly bulkDeletions: readonly BulkDeletionOfRun[];
  readonly allowance: AllowanceSummary & {
    /** `unknown`: treated as counted, since no response has shown it. */
    readonly checkPrice: CheckPrice;
  };
  /** What was seen, if the service refused requests without saying that the allowance is spent, or nothing was answered any more. */
  readonly refusal?: string;
  /** When the first of the postponed resources may be requested, ISO 8601, UTC; absent without one. */
  readonly postponedUntil?: string;
  /** ISO 8601, UTC: when to continue; null for at once, or if unknown. */
  readonly resumeAt: string | null;
  /** From start to end, without the compression that follows. */
  readonly seconds: number;
}

/** What became of the resources in a run. */
export interface ResourceCounts {
  /** Held for the first time. */
  new: number;
  /** Held before with another body. */
  changed: number;
  /** Found to be as held: by a 304, or by the same body. */
  unchanged: number;
  /** Tombstones made by this run, and absent resources that were never held. */
  gone: number;
  /** Due and not done: never fetched, or with a due check. */
  pending: number;
  /** Held resources without a due check that the run would have checked without its limits. */
  notChecked: number;
  /** Their request failed; what the mirror held of them stays. */
  failed: number;
  /** Not requested again before a time that the service gave for each of them alone. */
  postponed: number;
  /** Links that are not followed: they lead to another origin, or are no URLs. */
  skipped: number;
  /** Resources without a usable link that the specification requires: what is behind it is unknown. */
  missingLinks: number;
  /** Absent resources that become tombstones only after approval. */
  awaitingApproval: number;
  /** Collections whose pages are inconsistent, and prove no absence. */
  partial: number;
}

/** How far a sync is. */
export interface SyncProgress {
  /** Each kind of the scope that is known so far. */
  readonly kinds: readonly { readonly kind: string; readonly held: number; readonly known: number }[];
  readonly requests: Readonly<RequestCounts>;
  readonly allowance: AllowanceState;
  /** Due resources, as far as the mirror knows. */
  readonly pending: number;
  /** Counted requests until nothing is due, including resources that are probably still to be found. */
  readonly remainingRequests: number;
  /** Since the run began. */
  readonly seconds: number;
  /** Since the run began. */
  readonly requestsPerSecond: number;
}

/** @param run facts that only the run knows */
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
    remainingRequests: expectRemainingRequests(db, request, pending),
    requestsPerSecond: seconds === 0 ? 0 : requests.sent / seconds,
  };
}

function countKinds(db: Connection, { kinds }: Scope): SyncProgress["kinds"] {
  const select = prepare(db, () =>
    q
      .selectFrom("_resource")
      .select([
        "kind",
        sql<number>`sum(state in ('due', 'failed', 'held'))`.as("known"),
        sql<number>`sum(state = 'held')`.as("held"),
      ])
      .groupBy("kind"),
  );
  const counts = select.all();
  return kinds.flatMap((kind) => counts.filter((row) => row.kind === kind && row.known > 0));
}

function expectRemainingRequests(db: Connection, request: PlanRequest, pending: number): number {
  const { scope, mode, allowance } = request;
  const known = [...countNewWork(db, scope).values()].reduce((sum, count) => sum + count, 0);
  const isCounted = mode === "full" || allowance().checkPrice !== "free";
  const checks = isCounted ? pending - known : 0;
  // Forecasts are made for whole catalogues only.
  const facts = scope.belowIds === null ? readForecastFacts(db) : null;
  if (facts === null) return known + checks;
  const left = forecastDepths(facts)
    .flatMap((depth) => depth.kinds)
    .filter(({ kind }) => scope.kinds.includes(kind))
    .reduce((sum, { expected, held }) => sum + expected - held, 0);
  return Math.max(known, left) + checks;
}

/** Links that are not followed: they lead to another origin, or are no URLs. */
export function countSkippedLinks({ db }: MirrorReader): number {
  const count = prepareColumn(db, () =>
    q
      .selectFrom("_issue")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("code", "=", "skipped-link"),
  );
  return count.get() ?? 0;
}
