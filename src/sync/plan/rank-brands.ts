/**
 * Ranks the next steps towards all models. In: facts about each brand. Out: the possible steps, best first, by
 * the bras that each request on the way leads to. Pure.
 */
import type { BrandFacts, CatalogueFacts, ListingFacts } from "./queries/catalogue-facts.ts";
import { weights } from "./request.ts";

/** Due resources of equal value: pages of brands, one brand, or pages or models of one list. */
export interface Step {
  readonly kind: "brands" | "brand" | "models" | "model";
  /** The id of the brand or of the list; 0 for pages of brands. */
  readonly id: number;
  /** Bras per request. */
  readonly rate: number;
}

export function rankBrands(facts: CatalogueFacts): Step[] {
  const brasPerModel = averageBras(facts.brands);
  const steps: Step[] = [];
  // The service lists brands by number of bras, largest first: an unread one has about as many as the one before it.
  let brasBefore = brasPerModel * weights.itemsPerPage;
  for (const brand of facts.brands) {
    if (brand.isHeld) brasBefore = brand.bras ?? brasBefore;
    steps.push(...stepsOfBrand(brand, brasBefore, brasPerModel));
  }
  if (facts.dueBrandPages > 0) {
    const cost = openingCost(brasBefore, brasPerModel, 2) + 1 / weights.itemsPerPage;
    const rate = (weights.curiosity * brasBefore) / cost;
    steps.push({ kind: "brands", id: 0, rate });
  }
  // The sort is stable: equal rates keep the order of the list.
  return steps.sort((a, b) => b.rate - a.rate);
}

function stepsOfBrand(brand: BrandFacts, bras: number, brasPerModel: number): Step[] {
  const { id, isHeld, listing } = brand;
  if (!isHeld) {
    const rate = (weights.curiosity * bras) / openingCost(bras, brasPerModel, 2);
    return [{ kind: "brand", id, rate }];
  }
  if (listing === null) return [];
  if (!listing.isRead) {
    const rate = (weights.curiosity * bras) / openingCost(bras, brasPerModel, 1);
    return [{ kind: "models", id: listing.id, rate }];
  }
  // Without its own count, a brand is assumed to be average.
  const rate = brand.bras === null ? brasPerModel : restRate(brand.bras, listing);
  const steps: Step[] = [];
  if (listing.dueModels > 0) steps.push({ kind: "model", id: listing.id, rate });
  if (listing.duePages > 0) steps.push({ kind: "models", id: listing.id, rate });
  return steps;
}

/** Remaining bras of a brand per remaining request. */
function restRate(bras: number, listing: ListingFacts): number {
  const models = Math.max(listing.total ?? 0, listing.knownModels);
  const pages = Math.max(listing.duePages, (models - listing.knownModels) / weights.itemsPerPage);
  const requests = Math.max(1, models - listing.heldModels + pages);
  return Math.max(0, bras - listing.brasOfHeld) / requests;
}

/** Requests for all models of a brand with so many bras, and for the resources before them. */
function openingCost(bras: number, brasPerModel: number, before: number): number {
  const models = Math.max(1, bras / brasPerModel);
  return models * (1 + 1 / weights.itemsPerPage) + before;
}

/** Bras per model, from held models and a guess. */
export function averageBras(brands: readonly BrandFacts[]): number {
  let bras = weights.brasPerModel * weights.guessWeight;
  let models: number = weights.guessWeight;
  for (const { listing } of brands) {
    bras += listing?.brasOfHeld ?? 0;
    models += listing?.heldModels ?? 0;
  }
  return bras / models;
}
