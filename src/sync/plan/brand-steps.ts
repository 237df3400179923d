/**
 * What is worth most next, on the way to all models. In: what is known of each brand. Out: the steps that can be taken,
 * the best first. A step's rate is the bras that it leads to for each request on the way there. Pure.
 */
import { weights } from "./weights.ts";

export interface BrandFacts {
  readonly id: number;
  readonly isHeld: boolean;
  /** Its bras as its entity tells them; null before that is held, and where it does not say. */
  readonly bras: number | null;
  /** Its list of models; null before the brand is held. */
  readonly listing: ListingFacts | null;
}

export interface ListingFacts {
  readonly id: number;
  /** Whether its first page is held. */
  readonly isRead: boolean;
  /** Pages that are known and were never fetched. */
  readonly duePages: number;
  /** Models that the service says are in it; null when it does not. */
  readonly total: number | null;
  readonly knownModels: number;
  readonly heldModels: number;
  readonly dueModels: number;
  /** Bras of the models that are held. */
  readonly brasOfHeld: number;
}

export interface CatalogueFacts {
  /** In the order in which the service lists them: those with most bras first, until their counts are known. */
  readonly brands: readonly BrandFacts[];
  readonly dueBrandPages: number;
}

/** Resources that are equally worth asking for: pages of brands, one brand, or pages or models of a listing. */
export interface Step {
  readonly what: "brands" | "brand" | "models" | "model";
  /** The brand, or the listing; 0 for pages of brands. */
  readonly id: number;
  /** Bras a request. */
  readonly rate: number;
}

export function rankSteps(facts: CatalogueFacts): Step[] {
  const brasPerModel = averageBras(facts.brands);
  const steps: Step[] = [];
  // Brands are listed with most bras first: one that is not held has about as many as the held one before it.
  let brasBefore = brasPerModel * weights.itemsPerPage;
  for (const brand of facts.brands) {
    if (brand.isHeld) brasBefore = brand.bras ?? brasBefore;
    steps.push(...stepsOfBrand(brand, brasBefore, brasPerModel));
  }
  if (facts.dueBrandPages > 0) {
    const toOpen = openingCost(brasBefore, brasPerModel, 2) + 1 / weights.itemsPerPage;
    const rate = (weights.curiosity * brasBefore) / toOpen;
    steps.push({ what: "brands", id: 0, rate });
  }
  // The sort keeps the order of the list where rates are equal.
  return steps.sort((one, other) => other.rate - one.rate);
}

function stepsOfBrand(brand: BrandFacts, bras: number, brasPerModel: number): Step[] {
  const { id, isHeld, listing } = brand;
  if (!isHeld) {
    const rate = (weights.curiosity * bras) / openingCost(bras, brasPerModel, 2);
    return [{ what: "brand", id, rate }];
  }
  if (listing === null) return [];
  if (!listing.isRead) {
    const rate = (weights.curiosity * bras) / openingCost(bras, brasPerModel, 1);
    return [{ what: "models", id: listing.id, rate }];
  }
  // A brand that does not tell its bras is taken for an average one.
  const rate = brand.bras === null ? brasPerModel : restRate(brand.bras, listing);
  const steps: Step[] = [];
  if (listing.dueModels > 0) steps.push({ what: "model", id: listing.id, rate });
  if (listing.duePages > 0) steps.push({ what: "models", id: listing.id, rate });
  return steps;
}

/** What is left of a brand's bras, for each request that is left. */
function restRate(bras: number, listing: ListingFacts): number {
  const models = Math.max(listing.total ?? 0, listing.knownModels);
  const pages = Math.max(listing.duePages, (models - listing.knownModels) / weights.itemsPerPage);
  const requests = Math.max(1, models - listing.heldModels + pages);
  return Math.max(0, bras - listing.brasOfHeld) / requests;
}

/** Requests for all models of a brand that has so many bras, and those before them. */
function openingCost(bras: number, brasPerModel: number, before: number): number {
  const models = Math.max(1, bras / brasPerModel);
  return models * (1 + 1 / weights.itemsPerPage) + before;
}

/** Bras of a model, learned from those that are held. */
export function averageBras(brands: readonly BrandFacts[]): number {
  let bras = weights.brasPerModel * weights.guessWeight;
  let models: number = weights.guessWeight;
  for (const { listing } of brands) {
    bras += listing?.brasOfHeld ?? 0;
    models += listing?.heldModels ?? 0;
  }
  return bras / models;
}
