/**
 * An upper bound: the order of an oracle that knows all counts in advance but pays for the same requests as a sync: pages
 * of brands in sequence, the brand, the pages of its models in sequence, the model. It always chooses the path with the
 * most bras per request, counting all requests on that path.
 */
import type { Catalogue, ListedBrand } from "./catalogue.ts";

interface Progress {
  readonly brand: ListedBrand;
  isOpen: boolean;
  pagesRead: number;
  /** Bras of the models that are on the pages read and were not fetched, most first. */
  within: number[];
}

interface Offer {
  /** Bras a request. */
  readonly density: number;
  /** Further pages of models to read. */
  readonly pages: number;
}

/** @returns the bras that each request gains, at most so many requests */
export function oracleGains(
  { brands, brandsPerPage }: Pick<Catalogue, "brands" | "brandsPerPage">,
  requests: number,
): number[] {
  const gains: number[] = [];
  const states = brands.map((brand): Progress => ({ brand, isOpen: false, pagesRead: 0, within: [] }));
  let listed = 0;
  const offerOf = (state: Progress, index: number) =>
    bestOffer(state, Math.max(0, Math.ceil((index + 1 - listed) / brandsPerPage)));
  let offers = states.map(offerOf);

  while (gains.length < requests) {
    const index = indexOfBest(offers);
    const state = states[index];
    const offer = offers[index];
    if (state === undefined || offer === undefined || offer.density === 0) break;
    const listedBefore = listed;
    for (; listed <= index; listed += brandsPerPage) gains.push(0);
    if (!state.isOpen) gains.push(0);
    state.isOpen = true;
    for (let page = 0; page < offer.pages; page++) {
      gains.push(0);
      state.within.push(...(state.brand.pages[state.pagesRead++] ?? []));
    }
    state.within.sort(descending);
    const worthwhile = state.within.filter((bras) => bras >= offer.density);
    gains.push(...worthwhile);
    state.within = state.within.slice(worthwhile.length);
    if (listed > listedBefore) offers = states.map(offerOf);
    else offers[index] = offerOf(state, index);
  }
  return gains.slice(0, requests);
}

/** @param brandPages pages of brands to read before this brand is known */
function bestOffer({ brand, isOpen, pagesRead, within }: Progress, brandPages: number): Offer {
  const pool = [...within];
  let best: Offer = { density: 0, pages: 0 };
  for (let pages = 0; pagesRead + pages <= brand.pages.length; pages++) {
    if (pages > 0) pool.push(...(brand.pages[pagesRead + pages - 1] ?? []));
    const density = bestDensity(pool.sort(descending), brandPages + (isOpen ? 0 : 1) + pages);
    if (density > best.density) best = { density, pages };
  }
  return best;
}

/** @param before requests before the first of these models can be fetched */
function bestDensity(mostFirst: readonly number[], before: number): number {
  let sum = 0;
  let best = 0;
  for (const [index, bras] of mostFirst.entries()) {
    if (bras <= best) break;
    sum += bras;
    best = sum / (before + index + 1);
  }
  return best;
}

function indexOfBest(offers: readonly Offer[]): number {
  let best = 0;
  for (const [index, { density }] of offers.entries())
    if (density > (offers[best]?.density ?? 0)) best = index;
  return best;
}

function descending(one: number, other: number): number {
  return other - one;
}
