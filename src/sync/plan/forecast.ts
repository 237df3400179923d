/**
 * How long it takes. In: what is known of the catalogue. Out: how large it probably is, what is left to ask for at each
 * depth, and which share of all bras is covered after so many requests in the order of value. Pure.
 */
import { type Depth, depths } from "../../../schema/kind.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { dayMillis } from "../../platform/clock.ts";
import { kindsOfDepth } from "../options.ts";
import type { CheckPrice } from "../rate-limit/infer-prices.ts";
import { averageBras, type BrandFacts, type CatalogueFacts, prepareCatalogueFacts } from "./rank-brands.ts";
import { weights } from "./request.ts";

export interface ForecastFacts extends CatalogueFacts {
  /** Brands that the service says there are; null when it does not. */
  readonly brandTotal: number | null;
  /** Resources by kind. */
  readonly counts: ReadonlyMap<string, { readonly known: number; readonly held: number }>;
  /** Listings of sizes that were read, and the sizes in them. */
  readonly readSizeListings: number;
  readonly sizesListed: number;
}

export interface KindForecast {
  readonly kind: string;
  readonly known: number;
  readonly held: number;
  /** How many there probably are, none fewer than are known. */
  readonly expected: number;
}

export interface DepthForecast {
  readonly depth: Depth;
  readonly kinds: readonly KindForecast[];
  /** Requests until everything of this depth is held, those of lesser depths included. */
  readonly requestsLeft: number;
}

export function forecastDepths(facts: ForecastFacts): DepthForecast[] {
  const expected = expectCounts(facts);
  let requestsLeft = 0;
  return depths.map((depth) => {
    const names = depth === "brands" ? ["root", ...kindsOfDepth[depth]] : kindsOfDepth[depth];
    const kinds = names.map((kind): KindForecast => {
      const { known = 0, held = 0 } = facts.counts.get(kind) ?? {};
      return { kind, known, held, expected: Math.max(known, Math.round(expected.get(kind) ?? 0)) };
    });
    requestsLeft += kinds.reduce((sum, { expected, held }) => sum + expected - held, 0);
    return { depth, kinds, requestsLeft };
  });
}

export interface CoverageForecast {
  /** Bras of the models that are held, and of all that there probably are. */
  readonly covered: number;
  readonly expected: number;
  /** The share of all bras that is covered after so many more requests. */
  shareAfter(requests: number): number;
}

/** What a sync in the order of value covers, if every brand turns out as it is expected to be. */
export function forecastCoverage(facts: ForecastFacts): CoverageForecast {
  const outlooks = outlookOf(facts);
  const covered = sum(outlooks.map(({ brand }) => brand?.listing?.brasOfHeld ?? 0));
  const stretches = outlooks
    .map(({ brand, bras, models, pagesLeft }) => ({
      bras: Math.max(0, bras - (brand?.listing?.brasOfHeld ?? 0)),
      requests: models - (brand?.listing?.heldModels ?? 0) + pagesLeft + (brand?.isHeld ? 0 : 1),
    }))
    .filter(({ requests }) => requests > 0)
    .sort((one, other) => other.bras / other.requests - one.bras / one.requests);
  const expected = Math.max(1, covered + sum(stretches.map(({ bras }) => bras)));
  return {
    covered,
    expected,
    shareAfter(requests) {
      let left = requests;
      let reached = covered;
      for (const stretch of stretches) {
        if (left <= 0) break;
        reached += stretch.bras * Math.min(1, left / stretch.requests);
        left -= stretch.requests;
      }
      return Math.min(1, reached / expected);
    },
  };
}

interface BrandOutlook {
  /** Null for a brand that is not even listed yet. */
  readonly brand: BrandFacts | null;
  readonly bras: number;
  readonly models: number;
  /** Pages of its models that were never read. */
  readonly pagesLeft: number;
}

/** What is not known of a brand follows from those before it, since the largest are listed first: half as far down, twice as much. */
function outlookOf(facts: ForecastFacts): BrandOutlook[] {
  const { brands } = facts;
  const brasPerModel = averageBras(brands);
  let last = { bras: brasPerModel * weights.itemsPerPage, rank: 1 };
  return Array.from({ length: countBrands(facts) }, (_, index): BrandOutlook => {
    const brand = brands[index] ?? null;
    const rank = index + 1;
    if (brand?.isHeld && brand.bras !== null) last = { bras: brand.bras, rank };
    const bras = (last.bras * last.rank) / rank;
    const listing = brand?.listing ?? null;
    if (!listing?.isRead) {
      const models = bras / brasPerModel;
      return { brand, bras, models, pagesLeft: Math.max(1, pagesOf(models)) };
    }
    const { duePages, total, knownModels, heldModels, brasOfHeld } = listing;
    // A list that was read to its end has what it has, whatever it says.
    const models = duePages === 0 ? knownModels : Math.max(total ?? 0, knownModels);
    const isWhole = duePages === 0 && heldModels === knownModels;
    const pagesLeft = leftToRead(duePages, models - knownModels);
    return { brand, bras: isWhole ? brasOfHeld : bras, models, pagesLeft };
  });
}

function countBrands({ brands, brandTotal, dueBrandPages }: ForecastFacts): number {
  return dueBrandPages === 0 ? brands.length : Math.max(brandTotal ?? 0, brands.length);
}

function expectCounts(facts: ForecastFacts): Map<string, number> {
  const { brands, dueBrandPages, counts, readSizeListings, sizesListed } = facts;
  const outlooks = outlookOf(facts);
  const models = sum(outlooks.map((outlook) => outlook.models));
  const sizesPerModel =
    (sizesListed + weights.sizesPerModel * weights.guessWeight) / (readSizeListings + weights.guessWeight);
  const heldOf = (kind: string) => counts.get(kind)?.held ?? 0;
  return new Map([
    ["root", 1],
    ["brands", heldOf("brands") + leftToRead(dueBrandPages, outlooks.length - brands.length)],
    ["brand", outlooks.length],
    ["models", heldOf("models") + sum(outlooks.map((outlook) => outlook.pagesLeft))],
    ["model", models],
    ["sizes", models],
    ["size", sizesListed + Math.max(0, models - readSizeListings) * sizesPerModel],
  ]);
}

/** Pages of a list that are left: those that are due, and more where they cannot hold all the items that are missing. */
function leftToRead(duePages: number, missingItems: number): number {
  return duePages === 0 ? 0 : Math.max(duePages, pagesOf(missingItems));
}

function pagesOf(items: number): number {
  return Math.ceil(items / weights.itemsPerPage);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A forecast in days: what the requests that are left mean at an allowance. Pure. */

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
  readonly maxStaleness: {
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
  {
    maxStalenessMillis,
    maxFreeChecks,
  }: { readonly maxStalenessMillis: number; readonly maxFreeChecks: number },
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
    maxStaleness: { days: maxStalenessMillis / dayMillis, attainableDays: Math.ceil(held / checksPerDay) },
  };
}

function daysLeft(requests: number, limit: number | null): DaysLeft {
  const days = (perDay: number) => Math.ceil(requests / Math.max(1, perDay));
  const { withApp, withNone } = documentedAllowances;
  return { atLimit: limit === null ? null : days(limit), withApp: days(withApp), withNone: days(withNone) };
}

/** What the mirror knows of the catalogue's size, for forecasts. */

/** @returns null until the list of brands was begun: before, nobody knows how large the catalogue is */
export function readForecastFacts(db: Connection): ForecastFacts | null {
  const counts = db
    .prepare<[], { kind: string; known: number; held: number }>(
      `select kind, count(*) as known, sum(state = 'held') as held
       from _resource where state in ('due', 'held', 'failed') group by kind`,
    )
    .all();
  const brandTotal = db
    .prepare<[], number | null>(
      "select max(p.total) from _page p join _resource r on r.id = p.id where r.kind = 'brands' and r.state = 'held'",
    )
    .pluck()
    .get();
  const readSizeListings = db
    .prepare<[], number>(
      `select count(*) from _resource r join _page p on p.id = r.id and p.collection_id = p.id
       where r.kind = 'sizes' and r.state = 'held'`,
    )
    .pluck()
    .get();
  const byKind = new Map(counts.map(({ kind, known, held }) => [kind, { known, held }]));
  if (!byKind.get("brands")?.held) return null;
  return {
    ...prepareCatalogueFacts(db, { kinds: [], belowIds: null })(),
    brandTotal: brandTotal ?? null,
    counts: byKind,
    readSizeListings: readSizeListings ?? 0,
    sizesListed: byKind.get("size")?.known ?? 0,
  };
}
