/** What a plan is made from, and what it is made of. */
import type { Area } from "../../../schema/kind.ts";
import type { DueResource, Scope } from "../../mirror/frontier.ts";
import type { CheckPrice } from "../ledger/spending.ts";

export const orders = ["value", "breadth", "depth"] as const;
/**
 * `value`: what makes the mirror worth most soonest; `breadth`: level by level; `depth`: brand by brand.
 */
export type Order = (typeof orders)[number];

export const modes = ["incremental", "verify", "full"] as const;
/**
 * `incremental`: what is new, and checks where a change is likely or owed; `verify`: everything held is checked;
 * `full`: everything held is fetched again.
 */
export type Mode = (typeof modes)[number];

/** Why something is asked for. */
export type Reason =
  | "root"
  | "new"
  | "again"
  | "listing"
  | "suspect"
  | "sweep"
  | "expected"
  | "account"
  | "verify"
  | "full";

export interface PlannedResource extends DueResource {
  readonly reason: Reason;
  /** Whether asking costs nothing where nothing changed. */
  readonly isFree: boolean;
}

export interface PlanRequest {
  readonly area: Area;
  readonly scope: Scope;
  readonly order: Order;
  readonly mode: Mode;
  /** What was checked in this run is not due any more. */
  readonly runId: number;
  /** The run with which the present cycle of `verify` or `full` began. */
  readonly cycleRun: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The age that nothing held should pass. */
  readonly sweepMillis: number;
  /** What was checked more recently is left alone. */
  readonly maxAgeMillis: number;
  /** Checks that cost nothing, at most so many in this run. */
  readonly maxFreeChecks: number;
  /** What the ledger knows by now. */
  readonly allowance: () => PlanAllowance;
}

export interface PlanAllowance {
  /** Whether so much may be spent that the order makes no difference. */
  readonly isPlentiful: boolean;
  readonly checkPrice: CheckPrice;
}
