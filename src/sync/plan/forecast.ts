/**
 * Estimates the size of the catalogue and the time to a complete copy. In: facts about the catalogue or account, and
 * its allowance. Out: expected counts, requests, days, and the share of all bras covered over time. Pure.
 */
import { type Depth, depths } from "../../../schema/kind.ts";
import { dayMillis } from "../../platform/clock.ts";
import { kindsOfDepth } from "../options.ts";
import { type KnownAllowance, limitPerDay } from "../rate-limit/known-allowance.ts";
import type { DueCount } from "./counts.ts";
import { accountLists } from "./planner.ts";
import type { BrandFacts, ForecastFacts } from "./queries/catalogue-facts.ts";
import { averageBras } from "./rank-brands.ts";
import { checksPerSecond, weights } from "./request.ts";

/** Documented requests per day of such services, by credential; used until the ledger knows a limit. */
export const documentedAllowances = { withApp: 300, withNone: 30 } as const;

export interface Forecast {
  /** Requests per day that the ledger knows; null if it knows none. */
  readonly limit: number | null;
  /** The limit, or the documented one for the credential: all days in this forecast follow from it. */
  readonly requestsPerDay: number;
  /** One for each depth, the least first. */
  readonly depths: readonly (DepthForecast & { readonly days: DaysLeft })[];
  readonly coverage: {
    /** Bras of the held models. */
    readonly covered: number;
    /** Bras of all expected models. */
    readonly expected: number;
    /** The covered share of all bras after so many days. */
    readonly after: readonly { readonly day: number; readonly share: number }[];
  };
  readonly maxStaleness: {
    readonly days: number;
    /** Days in which everything held can be checked once, with a sync a day. */
    readonly attainableDays: number;
    /** Checks a day that keep within it. */
    readonly requiredPerDay: number;
    /** About how long they take; null if checks are counted, and more of them cannot be made. */
    readonly secondsPerDay: number | null;
  };
}

export interface DepthForecast {
  readonly depth: Depth;
  /** The kinds that this depth adds to the lesser ones. */
  readonly kinds: readonly KindForecast[];
  /** Requests until everything of this depth is held, including the lesser depths. */
  readonly remainingRequests: number;
}

export interface KindForecast {
  readonly kind: string;
  /** Resources that some link leads to, without tombstones. */
  readonly known: number;
  /** Those of them that were fetched. */
  readonly held: number;
  /** The probable number, at least `known`. */
  readonly expected: number;
}

/** Days until everything of a depth is held. */
export interface DaysLeft {
  /** Null if the limit is not known. */
  readonly atLimit: number | null;
  /** At the documented 300 requests a day with an app's credential. */
  readonly withApp: number;
  /** At the documented 30 a day without one. */
  readonly withNone: number;
}

const milestoneDays = [0, 1, 3, 7, 14, 30, 60];

export function forecastFrom(
  facts: ForecastFacts,
  aims: {
    readonly maxStalenessMillis: number;
    readonly maxFreeChecks: number;
    readonly checkConcurrency: number;
  },
  known: Pick<KnownAllowance, "limit" | "windowSeconds" | "checkPrice"> | null,
  documented: keyof typeof documentedAllowances,
): Forecast {
  const limit = known && limitPerDay(known);
  const requestsPerDay = limit ?? documentedAllowances[documented];
  const depths = forecastDepths(facts);
  const coverage = forecastCoverage(facts);
  const held = depths.flatMap(({ kinds }) => kinds).reduce((sum, kind) => sum + kind.held, 0);
  const areChecksFree = (known?.checkPrice ?? "free") === "free";
  const checksPerDay = areChecksFree ? Math.max(1, aims.maxFreeChecks) : requestsPerDay;
  const days = aims.maxStalenessMillis / dayMillis;
  const requiredPerDay = Math.ceil(held / Math.max(1, days));
  return {
    limit,
    requestsPerDay,
    depths: depths.map((depth) => ({ ...depth, days: remainingDays(depth.remainingRequests, limit) })),
    coverage: {
      covered: coverage.covered,
      expected: Math.round(coverage.expected),
      after: milestoneDays.map((day) => ({ day, share: coverage.shareAfter(day * requestsPerDay) })),
    },
    maxStaleness: {
      days,
      attainableDays: Math.ceil(held / checksPerDay),
      requiredPerDay,
      secondsPerDay: areChecksFree
        ? Math.ceil(requiredPerDay / (checksPerSecond * aims.checkConcurrency))
        : null,
    },
  };
}

function remainingDays(requests: number, limit: number | null): DaysLeft {
  const days = (perDay: number) => Math.ceil(requests / Math.max(1, perDay));
  const { withApp, withNone } = documentedAllowances;
  return { atLimit: limit === null ? null : days(limit), withApp: days(withApp), withNone: days(withNone) };
}

export function forecastDepths(facts: ForecastFacts): DepthForecast[] {
  const expected = expectCounts(facts);
  let remainingRequests = 0;
  return depths.map((depth) => {
    const names = depth === "brands" ? ["root", ...kindsOfDepth[depth]] : kindsOfDepth[depth];
    const kinds = names.map((kind): KindForecast => {
      const { known = 0, held = 0 } = facts.counts.get(kind) ?? {};
      return { kind, known, held, expected: Math.max(known, Math.round(expected.get(kind) ?? 0)) };
    });
    remainingRequests += sum(kinds.map(({ expected, held }) => expected - held));
    return { depth, kinds, remainingRequests };
  });
}

function expectCounts(facts: ForecastFacts): Map<string, number> {
  const { brands, dueBrandPages, counts, readSizeListings, sizesListed } = facts;
  const expectedBrands = expectBrands(facts);
  const brandCount = sum(expectedBrands.map(({ count }) => count));
  const models = sum(expectedBrands.map((brand) => brand.models));
  const sizesPerModel =
    (sizesListed + weights.sizesPerModel * weights.guessWeight) / (readSizeListings + weights.guessWeight);
  const heldOf = (kind: string) => counts.get(kind)?.held ?? 0;
  return new Map([
    ["root", 1],
    ["brands", heldOf("brands") + expectPages(dueBrandPages, brandCount - brands.length)],
    ["brand", brandCount],
    ["models", heldOf("models") + sum(expectedBrands.map((brand) => brand.pagesLeft))],
    ["model", models],
    ["sizes", models],
    ["size", sizesListed + Math.max(0, models - readSizeListings) * sizesPerModel],
  ]);
}

export interface CoverageForecast {
  /** Bras of the held models. */
  readonly covered: number;
  /** Bras of all expected models. */
  readonly expected: number;
  /** The covered share of all bras after so many more requests. */
  shareAfter(requests: number): number;
}

/** The coverage of a sync in the order of value, if every brand meets its expectation. */
export function forecastCoverage(facts: ForecastFacts): CoverageForecast {
  const expectedBrands = expectBrands(facts);
  const covered = sum(expectedBrands.map(({ brand }) => brand?.listing?.brasOfHeld ?? 0));
  const remaining = expectedBrands
    .map(({ brand, count, bras, models, pagesLeft }) => ({
      bras: Math.max(0, bras - (brand?.listing?.brasOfHeld ?? 0)),
      requests: models - (brand?.listing?.heldModels ?? 0) + pagesLeft + (brand?.isHeld ? 0 : count),
    }))
    .filter(({ requests }) => requests > 0)
    .sort((a, b) => b.bras / b.requests - a.bras / a.requests);
  const expected = Math.max(1, covered + sum(remaining.map(({ bras }) => bras)));
  return {
    covered,
    expected,
    shareAfter(requests) {
      let left = requests;
      let reached = covered;
      for (const brand of remaining) {
        if (left <= 0) break;
        reached += brand.bras * Math.min(1, left / brand.requests);
        left -= brand.requests;
      }
      return Math.min(1, reached / expected);
    },
  };
}

/** One brand, or several that are not listed yet. */
interface ExpectedBrand {
  /** Null if they are not listed yet. */
  readonly brand: BrandFacts | null;
  readonly count: number;
  readonly bras: number;
  readonly models: number;
  /** Pages of their lists of models that were never read. */
  readonly pagesLeft: number;
}

/** Estimates unread brands from those before them: the largest are listed first, with twice the bras at half the rank. */
function expectBrands(facts: ForecastFacts): ExpectedBrand[] {
  const { brands, brandTotal, dueBrandPages } = facts;
  const brasPerModel = averageBras(brands);
  let last = { bras: brasPerModel * weights.itemsPerPage, rank: 1 };
  const unread = (brand: BrandFacts | null, count: number, bras: number): ExpectedBrand => {
    const models = bras / brasPerModel;
    return { brand, count, bras, models, pagesLeft: count * Math.max(1, pagesOf(models / count)) };
  };
  const listed = brands.map((brand, index): ExpectedBrand => {
    const rank = index + 1;
    if (brand.isHeld && brand.bras !== null) last = { bras: brand.bras, rank };
    const bras = (last.bras * last.rank) / rank;
    if (!brand.listing?.isRead) return unread(brand, 1, bras);
    const { duePages, total, knownModels, heldModels, brasOfHeld } = brand.listing;
    // A list that was read to its end is complete, whatever total it reports.
    const models = duePages === 0 ? knownModels : Math.max(total ?? 0, knownModels);
    const isComplete = duePages === 0 && heldModels === knownModels;
    const pagesLeft = expectPages(duePages, models - knownModels);
    return { brand, count: 1, bras: isComplete ? brasOfHeld : bras, models, pagesLeft };
  });
  const total = dueBrandPages === 0 ? 0 : (brandTotal ?? 0);
  const unlisted = rankRanges(brands.length + 1, total).map(([first, end]) =>
    unread(null, end - first, last.bras * last.rank * sumOfInverses(first, end)),
  );
  return [...listed, ...unlisted];
}

/** Ranges of ranks, without their ends: of one rank each, and far behind of a tenth more ranks each. */
function rankRanges(first: number, last: number): [first: number, end: number][] {
  const ranges: [number, number][] = [];
  for (let rank = first; rank <= last; ) {
    const end = Math.min(last + 1, rank + Math.max(1, rank < 1000 ? 1 : Math.floor(rank / 10)));
    ranges.push([rank, end]);
    rank = end;
  }
  return ranges;
}

/** 1/first + … + 1/(end - 1), for a range as above. */
function sumOfInverses(first: number, end: number): number {
  return end - first === 1 ? 1 / first : Math.log((end - 0.5) / (first - 0.5));
}

/** Remaining pages of a list: the due ones, or more if those cannot hold all missing items. */
function expectPages(duePages: number, missingItems: number): number {
  return duePages === 0 ? 0 : Math.max(duePages, pagesOf(missingItems));
}

function pagesOf(items: number): number {
  return Math.ceil(items / weights.itemsPerPage);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

export interface AccountForecast {
  /** Whether all lists were fetched once: before, the size of the account is unknown. */
  readonly isWhole: boolean;
  /** Counted requests until everything is held and checked, as far as is known. */
  readonly remainingRequests: number;
  /** Requests per day that the ledger knows; null if it knows none. */
  readonly requestsPerDay: number | null;
  /** Days after today until then; null if the limit is not known. */
  readonly days: number | null;
}

export function forecastAccount(
  due: readonly DueCount[],
  known: Pick<KnownAllowance, "limit" | "remaining" | "windowSeconds"> | null,
): AccountForecast {
  const remainingRequests = sum(due.map(({ fetch, check, freeChecks }) => fetch + check - freeChecks));
  const afterToday = Math.max(0, remainingRequests - (known?.remaining ?? 0));
  const limit = known && limitPerDay(known);
  return {
    isWhole: due.every(({ kind, fetch }) => fetch === 0 || !accountLists.has(kind)),
    remainingRequests,
    requestsPerDay: limit,
    days: limit === null ? null : Math.ceil(afterToday / limit),
  };
}
