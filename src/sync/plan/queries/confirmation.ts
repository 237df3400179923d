/** What it takes to confirm what was loaded from snapshots. In: the mirror, and what is known of the allowance. */
import { sql } from "kysely";
import type { Connection } from "../../../mirror/file/connection.ts";
import { prepare } from "../../../mirror/file/statements.ts";
import { q } from "../../../mirror/queries/query-builder.ts";
import {
  type Confirmation,
  isCurrent,
  isUnconfirmed,
  readConfirmation,
} from "../../../mirror/snapshots/loaded.ts";
import { isPendingSample } from "../../../mirror/snapshots/sample.ts";
import { checksPerSecond, type PlanRequest } from "../request.ts";
import { isFree } from "./check-conditions.ts";

export interface ConfirmationPlan extends Confirmation {
  /** Of the unconfirmed ones: samples that are to be fetched whole, each for a counted request. */
  readonly sample: number;
  /** Others with a validator that the service will probably recognize: free if it has not changed them. */
  readonly free: number;
  /** Without one: each costs a counted request, and is made once it exceeds the max staleness. */
  readonly counted: number;
  /** About how long the free ones take. */
  readonly seconds: number;
  /** Syncs that the free ones take, with this limit of free checks. */
  readonly syncs: number;
}

/** Null if nothing was loaded from a snapshot. */
export function planConfirmation(
  db: Connection,
  { allowance, maxFreeChecks, checkConcurrency }: ConfirmationOptions,
): ConfirmationPlan | null {
  const confirmation = readConfirmation(db);
  if (confirmation === null) return null;
  const counts = prepare(db, (p: { isCounted: 0 | 1 }) =>
    q
      .selectFrom("_loaded as l")
      .innerJoin("_resource as r", "r.id", "l.resource_id")
      .select(sql<number>`total(${isPendingSample()})`.as("sample"))
      .select(sql<number>`total(not ${isPendingSample()} and ${isFree(p)})`.as("free"))
      .select(sql<number>`total(not ${isPendingSample()} and not (${isFree(p)}))`.as("counted"))
      .where("r.state", "=", "held")
      .where(isUnconfirmed())
      .where(isCurrent()),
  ).get({ isCounted: allowance().checkPrice === "counted" ? 1 : 0 }) ?? { sample: 0, free: 0, counted: 0 };
  const perSync = Math.max(1, maxFreeChecks ?? counts.free);
  return {
    ...confirmation,
    ...counts,
    seconds: counts.free / (checksPerSecond * checkConcurrency),
    syncs: Math.ceil(counts.free / perSync),
  };
}

type ConfirmationOptions = Pick<PlanRequest, "allowance" | "maxFreeChecks"> & {
  readonly checkConcurrency: number;
};
