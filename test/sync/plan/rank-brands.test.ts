import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type {
  BrandFacts,
  CatalogueFacts,
  ListingFacts,
} from "../../../src/sync/plan/queries/catalogue-facts.ts";
import { rankBrands } from "../../../src/sync/plan/rank-brands.ts";

const unread: ListingFacts = {
  id: 100,
  isRead: false,
  duePages: 1,
  total: null,
  knownModels: 0,
  heldModels: 0,
  dueModels: 0,
  brasOfHeld: 0,
};

function heldBrand(id: number, bras: number | null, listing: Partial<ListingFacts> = {}): BrandFacts {
  return { id, isHeld: true, bras, listing: { ...unread, id: 100 + id, ...listing } };
}

function readListing(models: number, heldModels = 0, brasOfHeld = 0): Partial<ListingFacts> {
  const knownModels = Math.min(models, 20);
  return {
    ...{ isRead: true, total: models, knownModels, heldModels, brasOfHeld },
    dueModels: knownModels - heldModels,
    duePages: models > 20 ? 1 : 0,
  };
}

function stepsOf(brands: readonly BrandFacts[], dueBrandPages = 0) {
  return rankBrands({ brands, dueBrandPages }).map(({ kind, id }) => `${kind} ${id}`);
}

describe("order", () => {
  it("the ranking of brands puts models of the brand with most bras per model first", () => {
    const brands = [heldBrand(1, 9000, readListing(300)), heldBrand(2, 400, readListing(4))];
    expect(stepsOf(brands)).toEqual(["model 102", "model 101", "models 101"]);
  });

  it("the ranking of brands moves a brand down once its popular models are held", () => {
    const before = [heldBrand(1, 1000, readListing(10)), heldBrand(2, 500, readListing(10))];
    expect(stepsOf(before)[0]).toBe("model 101");
    const after = [heldBrand(1, 1000, readListing(10, 2, 900)), heldBrand(2, 500, readListing(10))];
    expect(stepsOf(after)[0]).toBe("model 102");
  });

  it("the ranking of brands puts unread brands in the order of the list, which is by size", () => {
    const unknown = (id: number): BrandFacts => ({ id, isHeld: false, bras: null, listing: null });
    expect(stepsOf([unknown(1), unknown(2)], 1)).toEqual(["brand 1", "brand 2", "brands 0"]);
  });

  it("the ranking of brands puts known models before the next page of their list", () => {
    expect(stepsOf([heldBrand(1, 5000, readListing(60))])).toEqual(["model 101", "models 101"]);
  });

  it("the ranking of brands treats a brand without a count as an average one", () => {
    const brands = [
      heldBrand(1, 3000, readListing(20, 10, 1500)),
      heldBrand(2, null, readListing(10)),
      heldBrand(3, 10, readListing(10)),
    ];
    expect(stepsOf(brands)).toEqual(["model 101", "model 102", "model 103"]);
  });

  it("the ranking of brands keeps brands without any bras, at the end", () => {
    expect(stepsOf([heldBrand(1, 0, readListing(5)), heldBrand(2, 50, readListing(5))])).toEqual([
      "model 102",
      "model 101",
    ]);
  });
});

const count = fc.nat(200);
const arbitraryFacts: fc.Arbitrary<CatalogueFacts> = fc.record({
  dueBrandPages: fc.nat(2),
  brands: fc
    .array(
      fc.record({
        isHeld: fc.boolean(),
        bras: fc.option(fc.nat(1e6), { nil: null }),
        listing: fc.option(
          fc.record({
            isRead: fc.boolean(),
            duePages: fc.nat(3),
            total: fc.option(count, { nil: null }),
            knownModels: count,
            heldModels: count,
            dueModels: count,
            brasOfHeld: fc.nat(1e6),
          }),
          { nil: null },
        ),
      }),
    )
    .map((brands) =>
      brands.map(({ listing, ...brand }, index) => ({
        ...brand,
        id: index + 1,
        listing: listing && { ...listing, id: 1000 + index },
      })),
    ),
});

it("every possible step is ranked exactly once, whatever numbers the service reports", () => {
  fc.assert(
    fc.property(arbitraryFacts, (facts) => {
      const steps = rankBrands(facts);
      const names = steps.map(({ kind, id }) => `${kind} ${id}`);
      expect(new Set(names).size).toBe(names.length);
      for (const [index, { rate }] of steps.entries()) {
        expect(Number.isFinite(rate) && rate >= 0).toBe(true);
        if (index > 0) expect(rate).toBeLessThanOrEqual(steps[index - 1]?.rate ?? 0);
      }
      expect(names.includes("brands 0")).toBe(facts.dueBrandPages > 0);
      for (const { id, isHeld, listing } of facts.brands) {
        expect(names.includes(`brand ${id}`)).toBe(!isHeld);
        const dueModels = isHeld && listing?.isRead === true && listing.dueModels > 0;
        expect(names.includes(`model ${listing?.id}`)).toBe(dueModels);
      }
    }),
  );
});
