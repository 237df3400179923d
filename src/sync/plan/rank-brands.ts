/**
 * What is worth most next, on the way to all models. In: what is known of each brand. Out: the steps that can be taken,
 * the best first. A step's rate is the bras that it leads to for each request on the way there. Pure.
 */

import { isFetchable } from "../../mirror/absence/absences.ts";
import { isInScope, type Scope } from "../../mirror/check-cycle.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { weights } from "./request.ts";

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

export function rankBrands(facts: CatalogueFacts): Step[] {
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

/** What the mirror knows of its brands, for planning. */

interface BrandRow {
  readonly id: number;
  readonly isHeld: 0 | 1;
  readonly bras: number | null;
}

interface ListingRow extends Omit<ListingFacts, "isRead"> {
  readonly brandId: number;
  readonly isRead: 0 | 1;
}

/** @returns a function that reads the facts as they are at the moment */
export function prepareCatalogueFacts(db: Connection, scope: Scope): () => CatalogueFacts {
  const inScope = isInScope(scope, "r");
  const selectBrands = db.prepare<[], BrandRow>(
    `select r.id, r.state = 'held' as isHeld, cast(b.bra_count as real) as bras
     from _resource r left join _brand b on b.id = r.id
     where r.kind = 'brand' and r.state in ('due', 'held') and ${inScope} order by r.id`,
  );
  // Later pages of a listing belong to its brand like the first one, and `_page` says which listing they are of.
  const selectListings = db.prepare<[], ListingRow>(
    `select c.id, c.owner_id as brandId, c.state = 'held' as isRead,
       (c.state = 'due') + coalesce(pages.due, 0) as duePages, p.total,
       coalesce(models.known, 0) as knownModels, coalesce(models.held, 0) as heldModels,
       coalesce(models.due, 0) as dueModels, coalesce(models.bras, 0) as brasOfHeld
     from _resource c
     left join _page p on p.id = c.id
     left join (
       select q.collection_id as id, count(*) as due from _resource r join _page q on q.id = r.id
       where r.kind = 'models' and r.state = 'due' and ${isFetchable("r")} and q.collection_id <> q.id group by q.collection_id
     ) pages on pages.id = c.id
     left join (
       select r.owner_id as id, count(*) as known, sum(r.state = 'held') as held, sum(r.state = 'due') as due,
         total(m.bra_count) as bras
       from _resource r left join _model m on m.id = r.id
       where r.kind = 'model' and r.state in ('due', 'held') and ${isFetchable("r")} group by r.owner_id
     ) models on models.id = c.id
     where c.kind = 'models' and c.state in ('due', 'held') and (p.id is null or p.collection_id = p.id)`,
  );
  const countBrandPages = db
    .prepare<[], number>(
      `select count(*) from _resource r where r.kind = 'brands' and r.state = 'due' and ${inScope}`,
    )
    .pluck();

  return () => {
    const listings = new Map(selectListings.all().map((row) => [row.brandId, toListing(row)]));
    const brands = selectBrands.all().map(
      ({ id, isHeld, bras }): BrandFacts => ({
        id,
        isHeld: isHeld === 1,
        bras,
        listing: listings.get(id) ?? null,
      }),
    );
    return { brands, dueBrandPages: countBrandPages.get() ?? 0 };
  };
}

function toListing({ brandId: _, isRead, ...row }: ListingRow): ListingFacts {
  return { ...row, isRead: isRead === 1 };
}
