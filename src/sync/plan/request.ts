/** What a plan is made from, and what it is made of. */
import type { Area } from "../../../schema/kind.ts";
import type { DueResource, Scope } from "../../mirror/check-cycle.ts";
import type { CheckPrice } from "../rate-limit/infer-prices.ts";

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
  | "stale"
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
  readonly maxStalenessMillis: number;
  /** What was checked more recently is left alone. */
  readonly skipFresherThanMillis: number;
  /** Checks that cost nothing, at most so many in this run. */
  readonly maxFreeChecks: number;
  /** What the ledger knows by now. */
  readonly allowance: () => PlanAllowance;
}

export interface PlanAllowance {
  /** Whether so much may be spent that the order makes no difference. */
  readonly isAmple: boolean;
  readonly checkPrice: CheckPrice;
}

/** Every weight of the planner, in one place; `npm run bench -- allowance` shows what they are worth. */

export const weights = {
  /** Bras of a model before any is known. */
  brasPerModel: 30,
  /** Sizes of a model before any is known. */
  sizesPerModel: 7,
  /** How many models those guesses weigh as much as, once some are known. */
  guessWeight: 20,
  /** Items on a page of a listing, where none was read yet. */
  itemsPerPage: 20,
  /** How much better than the average an unopened brand is taken to be: looking costs little, and may find the best one. */
  curiosity: 1.5,
  /** While something was never fetched, what may be spent on checks of what is held for each request for it. */
  spendingOnChecks: 0.2,
  /** What a free check is taken to spend: how likely it finds a change, which is counted. */
  costOfFreeCheck: 0.07,
  /** How a run's free checks are divided where they do not reach for all: listings and brands, then suspects, then the rest. */
  shareOfEvidence: 0.4,
  shareOfSuspects: 0.4,
  /**
   * A run that goes on with a crawl leaves alone what was looked at within so many days, and every run the front page; less
   * than one, so that a run at the same time of each day looks at it.
   */
  restDays: 0.75,
  /** Where a check costs as much as a fetch: how often listings and brands are checked within max staleness. */
  pricedEvidencePerMaxStaleness: 6,
  /** Where a check costs as much as a fetch: how likely a change must be for a suspect to be asked; a changed parent
   * makes its only child certain to have changed, and one of many as unlikely as they are many. */
  leastSuspicion: 0.25,
  /** Changes a day that a resource of any kind is taken to have before some were seen, and how many days that weighs. */
  changesPerDay: 0.01,
  changeGuessDays: 100,
} as const;
