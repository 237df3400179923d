/** What a sync did: the object that `sync --json` prints, and that the run log keeps. */
import type { GrantName } from "../mirror/grants.ts";
import type { MassOfRun, StopReason } from "../mirror/runs/runs.ts";
import type { RequestCounts } from "./allowance.ts";
import type { CheckPrice } from "./ledger/spending.ts";

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
  readonly notGranted?: readonly GrantName[];
  /** Those of them of which an earlier token brought something. */
  readonly withdrawn?: readonly GrantName[];
  /** Where so much is absent at once that it waits for approval. */
  readonly masses: readonly MassOfRun[];
  readonly allowance: {
    readonly limit: number | null;
    readonly remaining: number | null;
    /** ISO 8601, UTC. */
    readonly resetAt: string | null;
    /** `untried`: taken for counted, since the service tells nothing that would show it. */
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
