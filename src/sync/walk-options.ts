/** What a sync goes for and in which order: the same for carrying it out and for planning it, with one set of defaults. */
import { type Area, type Depth, depths } from "../../schema/kind.ts";
import { dayMillis } from "../service/clock.ts";
import { type Mode, modes, type Order, orders } from "./plan/plan-request.ts";

export interface WalkOptions {
  /** `catalogue` unless told; `account` for what belongs to the user of a token, which has neither depths nor brands. */
  readonly area?: Area;
  /** `incremental` unless told. */
  readonly mode?: Mode;
  /** `value` unless told. */
  readonly order?: Order;
  /** `sizes` unless told. */
  readonly depth?: Depth;
  /** Only these brands, by listed name or slug; all when empty. */
  readonly brands?: readonly string[];
  /** Links to follow that are else only noted, such as `related`, `same_cut`, `adjacent_sizes`. */
  readonly follow?: readonly string[];
  /** Checks that cost nothing, at most so many in an incremental run; 2,000 unless told. */
  readonly maxFreeChecks?: number;
  /** What was checked more recently is left alone in an incremental run; 0 unless told. */
  readonly maxAgeMillis?: number;
  /** The age that nothing held should pass; 30 days unless told. */
  readonly sweepMillis?: number;
}

export type Walk = Required<WalkOptions>;

export const defaultMaxFreeChecks = 2000;
export const defaultSweepDays = 30;

/** @throws RangeError for a mode, order or depth that there is not */
export function settleWalk(options: WalkOptions): Walk {
  const { mode = "incremental", order = "value", depth = "sizes", brands = [], follow = [] } = options;
  requireOneOf("mode", modes, mode);
  requireOneOf("order", orders, order);
  requireOneOf("depth", depths, depth);
  const { area = "catalogue", maxFreeChecks = defaultMaxFreeChecks, maxAgeMillis = 0 } = options;
  const { sweepMillis = defaultSweepDays * dayMillis } = options;
  return { area, mode, order, depth, brands, follow, maxFreeChecks, maxAgeMillis, sweepMillis };
}

function requireOneOf(name: string, values: readonly string[], value: string): void {
  if (!values.includes(value)) throw new RangeError(`${name} is one of ${values.join(", ")}, not ${value}`);
}
