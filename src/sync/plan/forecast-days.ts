/** A forecast in days: what the requests that are left mean at an allowance. Pure. */
import { dayMillis } from "../../service/clock.ts";
import type { CheckPrice } from "../ledger/spending.ts";
import { type DepthForecast, type ForecastFacts, forecastCoverage, forecastDepths } from "./forecast.ts";

/** What services of this kind grant a day, by credential (field notes); used where the ledger knows no limit. */
export const documentedAllowances = { withApp: 300, withNone: 30 } as const;

export interface Forecast {
  /** What is granted a day: as the ledger knows it, else null. */
  readonly limit: number | null;
  /** What all of this counts on a day: the limit, or what is documented for the credential that is used. */
  readonly requestsPerDay: number;
  readonly depths: readonly (DepthForecast & { readonly days: DaysLeft })[];
  readonly coverage: {
    /** Bras of the models that are held, and of all that there probably are. */
    readonly covered: number;
    readonly expected: number;
    /** The share of all bras that is covered after so many days from now, at that many requests a day. */
    readonly after: readonly { readonly day: number; readonly share: number }[];
  };
  readonly sweep: {
    readonly days: number;
    /** In how many days everything that is held can be checked once, by how many are free a run or granted a day. */
    readonly attainableDays: number;
  };
}

/** Days until everything of a depth is held; null where the limit is not known. */
export interface DaysLeft {
  readonly atLimit: number | null;
  readonly withApp: number;
  readonly withNone: number;
}

const milestones = [0, 1, 3, 7, 14, 30, 60];

export function forecastFrom(
  facts: ForecastFacts,
  { sweepMillis, maxFreeChecks }: { readonly sweepMillis: number; readonly maxFreeChecks: number },
  known: { readonly limit: number | null; readonly checkPrice: CheckPrice } | null,
  documented: keyof typeof documentedAllowances,
): Forecast {
  const limit = known?.limit ?? null;
  const requestsPerDay = Math.max(1, limit ?? documentedAllowances[documented]);
  const depths = forecastDepths(facts);
  const coverage = forecastCoverage(facts);
  const held = depths.flatMap(({ kinds }) => kinds).reduce((sum, kind) => sum + kind.held, 0);
  const checksPerDay = (known?.checkPrice ?? "free") === "free" ? Math.max(1, maxFreeChecks) : requestsPerDay;
  return {
    limit,
    requestsPerDay,
    depths: depths.map((depth) => ({ ...depth, days: daysLeft(depth.requestsLeft, limit) })),
    coverage: {
      covered: coverage.covered,
      expected: Math.round(coverage.expected),
      after: milestones.map((day) => ({ day, share: coverage.shareAfter(day * requestsPerDay) })),
    },
    sweep: { days: sweepMillis / dayMillis, attainableDays: Math.ceil(held / checksPerDay) },
  };
}

function daysLeft(requests: number, limit: number | null): DaysLeft {
  const days = (perDay: number) => Math.ceil(requests / Math.max(1, perDay));
  const { withApp, withNone } = documentedAllowances;
  return { atLimit: limit === null ? null : days(limit), withApp: days(withApp), withNone: days(withNone) };
}
