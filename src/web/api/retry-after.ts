/**
 * When a resource that is not held probably will be: from the forecast of the plan, by then everything of its depth is held.
 * The forecast reads much of the mirror, so it is made at most once a minute, and only for resources that are missing.
 */
import { dayMillis } from "../../platform/clock.ts";
import { ArmoireError } from "../../platform/errors.ts";
import type { Forecast } from "../../sync/plan/forecast.ts";

export type ReadForecast = () => Pick<Forecast, "depths"> | null;

/** @returns seconds; null if the plan does not say */
export type RetryAfter = (kind: string | null) => number | null;

const secondsPerDay = dayMillis / 1000;
const validMillis = 60_000;

/** @param readForecast null: there is no plan, as for an earlier state */
export function createRetryAfter(readForecast: ReadForecast | null, now: () => number): RetryAfter {
  if (readForecast === null) return () => null;
  let read: { readonly at: number; readonly forecast: ReturnType<ReadForecast> } | null = null;
  return (kind) => {
    if (kind === null) return null;
    if (read === null || now() - read.at >= validMillis)
      read = { at: now(), forecast: readIfPossible(readForecast) };
    const depth = read.forecast?.depths.find(({ kinds }) => kinds.some((known) => known.kind === kind));
    const days = depth?.days.atLimit ?? null;
    // What failed is requested again by the next run.
    return days === null ? null : Math.max(1, days) * secondsPerDay;
  };
}

/** Without a usable ledger or mirror there is no forecast. */
function readIfPossible(readForecast: ReadForecast): ReturnType<ReadForecast> {
  try {
    return readForecast();
  } catch (error) {
    if (error instanceof ArmoireError) return null;
    throw error;
  }
}
