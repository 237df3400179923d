import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forecastCoverage, forecastDepths, forecastFrom } from "../../../src/sync/plan/forecast.ts";
import type { BrandFacts, ForecastFacts } from "../../../src/sync/plan/queries/catalogue-facts.ts";

const aims = { maxStalenessMillis: 30 * 86_400_000, maxFreeChecks: 2000, checkConcurrency: 1 };

const emptyCatalogue: ForecastFacts = {
  brands: [],
  dueBrandPages: 1,
  brandTotal: null,
  counts: new Map(),
  readSizeListings: 0,
  sizesListed: 0,
};

function completeBrand(id: number, bras: number, models: number): BrandFacts {
  const listing = { id: 100 + id, isRead: true, duePages: 0, total: models, knownModels: models };
  return {
    id,
    isHeld: true,
    bras,
    listing: { ...listing, heldModels: models, dueModels: 0, brasOfHeld: bras },
  };
}

describe("requests and days", () => {
  it("a forecast of a complete mirror leaves no requests and covers everything", () => {
    const held = (count: number) => ({ known: count, held: count });
    const facts: ForecastFacts = {
      ...emptyCatalogue,
      dueBrandPages: 0,
      brands: [completeBrand(1, 500, 10), completeBrand(2, 100, 4)],
      brandTotal: 2,
      counts: new Map([
        ["root", held(1)],
        ["brands", held(1)],
        ["brand", held(2)],
        ["models", held(2)],
        ["model", held(14)],
        ["sizes", held(14)],
      ]),
    };
    const [brands, models] = forecastDepths(facts);
    expect(brands?.remainingRequests).toBe(0);
    expect(models?.remainingRequests).toBe(0);
    expect(forecastCoverage(facts).shareAfter(0)).toBe(1);
  });

  it("a forecast uses the length of a list that was read to its end, not the total that it reports", () => {
    const whole = completeBrand(1, 500, 50);
    const listing = whole.listing && { ...whole.listing, total: 90, brasOfHeld: 400 };
    const held = (count: number) => ({ known: count, held: count });
    const facts: ForecastFacts = {
      ...emptyCatalogue,
      dueBrandPages: 0,
      brands: [{ ...whole, listing }],
      brandTotal: 40,
      counts: new Map([
        ...["root", "brands", "brand", "models"].map((kind) => [kind, held(1)] as const),
        ...["model", "sizes", "size"].map((kind) => [kind, held(50)] as const),
      ]),
      readSizeListings: 50,
      sizesListed: 50,
    };
    expect(forecastDepths(facts).map(({ remainingRequests }) => remainingRequests)).toEqual([0, 0, 0]);
    expect(forecastCoverage(facts).shareAfter(0)).toBe(1);
  });

  it("a forecast uses the documented allowance of the credential until a limit is known", () => {
    expect(forecastFrom(emptyCatalogue, aims, null, "withApp").requestsPerDay).toBe(300);
    expect(forecastFrom(emptyCatalogue, aims, null, "withNone").requestsPerDay).toBe(30);
    expect(
      forecastFrom(
        emptyCatalogue,
        aims,
        { limit: 100, windowSeconds: 86_400, checkPrice: "free" },
        "withNone",
      ).requestsPerDay,
    ).toBe(100);
  });

  it("a forecast expects as many brands as the service reports", () => {
    const { depths } = forecastFrom({ ...emptyCatalogue, brandTotal: 683 }, aims, null, "withApp");
    expect(depths[0]?.kinds).toContainEqual({ kind: "brand", known: 0, held: 0, expected: 683 });
    expect(depths[0]?.kinds).toContainEqual({ kind: "brands", known: 0, held: 0, expected: 35 });
  });

  it("a forecast of any number of reported brands is computed from some hundred groups of them", () => {
    const expected = (brandTotal: number) => {
      const [brands, models] = forecastDepths({ ...emptyCatalogue, brandTotal });
      return [brands, models].map((depth) => depth?.kinds.map((kind) => kind.expected));
    };
    const [, [, models = 0] = []] = expected(2_000);
    // The sum of 600 models divided by each rank; ranks behind the thousandth are estimated in groups.
    const exact = Array.from({ length: 2_000 }, (_, n) => 20 / (n + 1)).reduce((a, b) => a + b);
    expect(models).toBe(Math.round(exact));
    expect(expected(Number.MAX_SAFE_INTEGER)[0]).toContain(Number.MAX_SAFE_INTEGER);
    expect(forecastCoverage({ ...emptyCatalogue, brandTotal: 1e9 }).shareAfter(1e12)).toBeCloseTo(1);
  });

  it("a forecast is given in days at the known limit and at the documented allowances", () => {
    const { depths } = forecastFrom(
      { ...emptyCatalogue, brandTotal: 683 },
      aims,
      { limit: 100, windowSeconds: 86_400, checkPrice: "free" },
      "withNone",
    );
    expect(depths[0]?.days).toEqual({ atLimit: 8, withApp: 3, withNone: 24 });
  });

  it("a forecast shows how many days checking everything takes", () => {
    const facts = { ...emptyCatalogue, counts: new Map([["size", { known: 90_000, held: 90_000 }]]) };
    expect(
      forecastFrom(facts, aims, { limit: 300, windowSeconds: 86_400, checkPrice: "free" }, "withApp")
        .maxStaleness,
    ).toEqual({
      days: 30,
      attainableDays: 45,
      requiredPerDay: 3000,
      secondsPerDay: 300,
    });
    expect(
      forecastFrom(facts, aims, { limit: 300, windowSeconds: 86_400, checkPrice: "counted" }, "withApp")
        .maxStaleness,
    ).toMatchObject({ attainableDays: 300, secondsPerDay: null });
    expect(
      forecastFrom(facts, { ...aims, checkConcurrency: 4 }, null, "withApp").maxStaleness.secondsPerDay,
    ).toBe(75);
  });

  it("a forecast of coverage rises from the held share to everything", () => {
    const facts = fc.array(fc.tuple(fc.nat(1e5), fc.nat(300), fc.nat(1000)), { maxLength: 30 }).map(
      (brands): ForecastFacts => ({
        ...emptyCatalogue,
        brands: brands.map(([bras, models, held], index) => {
          const brand = completeBrand(index, bras, models);
          const heldModels = Math.min(models, held);
          const brasOfHeld = models === 0 ? 0 : Math.floor((bras * heldModels) / models);
          return { ...brand, listing: brand.listing && { ...brand.listing, heldModels, brasOfHeld } };
        }),
      }),
    );
    fc.assert(
      fc.property(facts, (given) => {
        const { shareAfter, covered, expected } = forecastCoverage(given);
        const shares = [0, 10, 100, 1000, 1e6].map(shareAfter);
        expect(shares).toEqual([...shares].sort((a, b) => a - b));
        expect(shares[0]).toBeCloseTo(covered / expected);
        if (covered > 0) expect(shares.at(-1)).toBeCloseTo(1, 2);
      }),
    );
  });
});
