/** The input, tools and counts of a run. */
import type { RepeatRequests } from "../../../jobs/bullmq/runs/repeat-requests.ts";
import type { Engine } from "../../../jobs/engine.ts";
import type { CatalogueLink } from "../../mirror/account/catalogue-links.ts";
import type { IngestSummary } from "../../mirror/ingest.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ServiceClient } from "../../service/client.ts";
import type { SyncScope } from "../options.ts";
import type { RefusalExaminer } from "../rate-limit/refusals/examine-refusals.ts";
import type { ResponseWatch } from "../rate-limit/refusals/watch-responses.ts";
import type { RunBudget } from "../rate-limit/run-budget.ts";
import type { SyncProgress } from "../report.ts";
import type { RunMirror } from "../writer/client.ts";
import type { TokenOwnerResult } from "./identify-user.ts";
import type { RunStop } from "./run-stop.ts";

export interface RunRequest extends SyncScope {
  /** The only resources to fetch; null for all that the crawl finds. */
  readonly only: readonly CatalogueLink[] | null;
  readonly budget: number | null;
  readonly concurrency: number;
  /** Creates tombstones for all resources noted as absent, however many. */
  readonly approve: boolean;
  /** The kind of credential that requests carry. */
  readonly credential: "none" | "app" | "token";
  /** When the user's token was stored, ISO 8601; null if unknown. */
  readonly tokenAt: string | null;
  readonly onProgress: (read: () => SyncProgress) => void;
}

export interface RunTools {
  readonly mirror: RunMirror;
  readonly engine: Engine;
  readonly client: ServiceClient;
  readonly runBudget: RunBudget;
  readonly examiner: RefusalExaminer;
  readonly watch: ResponseWatch;
  readonly runStop: RunStop;
  readonly clock: Clock;
  /** Resources that people want fetched again; null without workers. */
  readonly repeats: RepeatRequests | null;
  /** The user that the token belongs to, identified before the run; null in a catalogue. */
  readonly tokenOwner: TokenOwnerResult | null;
}

/** A run that has begun. */
export interface RunState {
  readonly runId: number;
  /** Epoch milliseconds. */
  readonly startedMillis: number;
  readonly summary: IngestSummary;
  /** Results of jobs, each of which is one fetch with any number of attempts. */
  results: number;
  /** Whether something was never requested when the last crawl began. */
  hasMoreWork: boolean;
}
