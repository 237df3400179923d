/** What a run is asked to do, and what it works with. */
import type { Engine } from "../../../jobs/engine.ts";
import type { CatalogueLink } from "../../mirror/account/catalogue-links.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ServiceClient } from "../../service/client.ts";
import type { SyncScope } from "../options.ts";
import type { RunBudget } from "../rate-limit/run-budget.ts";
import type { SyncProgress } from "../report.ts";
import type { RunMirror } from "../writer/client.ts";
import type { GracefulStop } from "./graceful-stop.ts";
import type { TokenOwnerResult } from "./identify-user.ts";

export interface RunRequest extends SyncScope {
  /** Null for all that the walk meets. */
  readonly only: readonly CatalogueLink[] | null;
  readonly budget: number | null;
  readonly concurrency: number;
  /** Makes tombstones of whatever is noted as absent, however much it is. */
  readonly approve: boolean;
  readonly onProgress: (read: () => SyncProgress) => void;
}

export interface RunTools {
  readonly mirror: RunMirror;
  readonly engine: Engine;
  readonly service: ServiceClient;
  readonly allowance: RunBudget;
  readonly interruption: GracefulStop;
  readonly clock: Clock;
  /** What the service was asked before the run to know whose token it is; null where there is no user. */
  readonly introduction: TokenOwnerResult | null;
}
