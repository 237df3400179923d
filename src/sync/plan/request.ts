/** The input and output of a plan, and its weights. */
import type { Area } from "../../../schema/kind.ts";
import type { DueResource, Scope } from "../../mirror/scope.ts";
import type { CheckPrice } from "../rate-limit/infer-prices.ts";

export const orders = ["value", "breadth", "depth"] as const;
/** `value`: the models with most bras first; `breadth`: level by level; `depth`: brand by brand. */
export type Order = (typeof orders)[number];

export const modes = ["incremental", "verify", "full"] as const;
/**
 * `incremental`: new resources, and checks where a change is likely or a check is due; `verify`: everything held is
 * checked; `full`: everything held is fetched again.
 */
export type Mode = (typeof modes)[number];

/** Why a resource is requested. */
export type Reason =
  | "root"
  | "sample"
  | "new"
  | "again"
  | "listing"
  | "suspect"
  | "stale"
  | "unconfirmed"
  | "expected"
  | "account"
  | "verify"
  | "full";

export interface PlannedResource extends DueResource {
  readonly reason: Reason;
  /** Whether the request is free if nothing changed. */
  readonly isFree: boolean;
}

export interface PlanRequest {
  readonly area: Area;
  readonly scope: Scope;
  readonly order: Order;
  readonly mode: Mode;
  /** Resources that were checked in this run are no longer due. */
  readonly runId: number;
  /** The first run of the current cycle of `verify` or `full`. */
  readonly cycleRun: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Nothing held should be unchecked for longer. */
  readonly maxStalenessMillis: number;
  /** Resources that were checked more recently are not checked. */
  readonly skipFresherThanMillis: number;
  /** At most so many free checks in this run; null for the default (`freeCheckLimit`). */
  readonly maxFreeChecks: number | null;
  /** The current state of the ledger. */
  readonly allowance: () => PlanAllowance;
}

export interface PlanAllowance {
  /** Whether the allowance is so large that the order makes no difference. */
  readonly isAmple: boolean;
  readonly checkPrice: CheckPrice;
}

/** Of free checks without an ample allowance. */
export const defaultMaxFreeChecks = 2000;
/** With an ample allowance, a run makes free checks for so long. */
const freeCheckMillis = 600_000;
/** Checks of one place follow each other, with a pause after each. A guess until a run has shown more. */
export const checksPerSecond = 10;

export interface FreeCheckLimit {
  readonly count: number;
  /** Milliseconds from the first check on. */
  readonly millis: number;
}

/** The limit of a run's free checks, as far as the allowance is known now. */
export function freeCheckLimit({
  maxFreeChecks,
  allowance,
}: Pick<PlanRequest, "maxFreeChecks" | "allowance">): FreeCheckLimit {
  if (maxFreeChecks !== null) return { count: maxFreeChecks, millis: Number.POSITIVE_INFINITY };
  const { isAmple, checkPrice } = allowance();
  return isAmple && checkPrice === "free"
    ? { count: Number.MAX_SAFE_INTEGER, millis: freeCheckMillis }
    : { count: defaultMaxFreeChecks, millis: Number.POSITIVE_INFINITY };
}

/** How many free checks the next run will probably make at most. */
export function expectFreeChecks(
  request: Pick<PlanRequest, "maxFreeChecks" | "allowance"> & { readonly checkConcurrency: number },
): number {
  const { count, millis } = freeCheckLimit(request);
  return Math.min(count, (millis / 1000) * checksPerSecond * request.checkConcurrency);
}

/** All weights of the planner; `npm run bench -- allowance` measures their effect. */
export const weights = {
  /** Bras of a model, before any is known. */
  brasPerModel: 30,
  /** Sizes of a model, before any is known. */
  sizesPerModel: 7,
  /** The weight of these guesses, as a number of known models. */
  guessWeight: 20,
  /** Items on a page of a list, before one was read. */
  itemsPerPage: 20,
  /** The factor by which an unread brand is preferred to an average one: reading it costs little, and may find the best one. */
  curiosity: 1.5,
  /** During a crawl, requests spent on checks for each fetch. */
  checksPerFetch: 0.2,
  /** The average cost of a free check: the likelihood that it finds a change, which is counted. */
  costOfFreeCheck: 0.07,
  /** Shares of a run's free checks: lists and brands, then suspects, then the rest. */
  shareOfListings: 0.4,
  shareOfSuspects: 0.4,
  /**
   * A run that continues a crawl does not check resources that were checked within so many days, and no run the root. Less
   * than one, so that a run at the same time each day checks it.
   */
  restDays: 0.75,
  /** If checks are counted: how often lists and brands are checked within the max staleness. */
  countedListingChecksPerMaxStaleness: 6,
  /** If checks are counted: the minimum likelihood of a change for a suspect to be checked. */
  minSuspicion: 0.25,
  /** Changes a day of a resource before any was observed, and how many days of observation this guess weighs. */
  changesPerDay: 0.01,
  changeGuessDays: 100,
} as const;
