/**
 * An upper bound for orders of requests: an oracle that knows all counts in advance, but needs the same requests as a sync:
 * pages of brands in sequence, the brand, the pages of its models in sequence, the model. It always chooses the path with
 * the most bras per request, counting all requests on that path.
 */
import type { Catalogue, ListedBrand } from "./catalogue.ts";

interface Progress {
  readonly brand: ListedBrand;
  isFetched: boolean;
  pagesRead: number;
  /** Bras of each listed model that is not fetched yet, in descending order. */
  unfetched: number[];
}

interface Path {
  /** Bras per request. */
  readonly density: number;
  /** Further pages of models to read. */
  readonly pages: number;
}

/** Returns the bras that each request covers, for at most `requests` requests. */
export function oracleGains(
  { brands, brandsPerPage }: Pick<Catalogue, "brands" | "brandsPerPage">,
  requests: number,
): number[] {
  const gains: number[] = [];
  const states = brands.map((brand): Progress => ({ brand, isFetched: false, pagesRead: 0, unfetched: [] }));
  let listedBrands = 0;
  const pathOf = (state: Progress, index: number) =>
    bestPath(state, Math.max(0, Math.ceil((index + 1 - listedBrands) / brandsPerPage)));
  let paths = states.map(pathOf);

  while (gains.length < requests) {
    const index = indexOfBest(paths);
    const state = states[index];
    const path = paths[index];
    if (state === undefined || path === undefined || path.density === 0) break;
    const listedBefore = listedBrands;
    for (; listedBrands <= index; listedBrands += brandsPerPage) gains.push(0);
    if (!state.isFetched) gains.push(0);
    state.isFetched = true;
    for (let page = 0; page < path.pages; page++) {
      gains.push(0);
      state.unfetched.push(...(state.brand.pages[state.pagesRead++] ?? []));
    }
    state.unfetched.sort(descending);
    const worthwhile = state.unfetched.filter((bras) => bras >= path.density);
    gains.push(...worthwhile);
    state.unfetched = state.unfetched.slice(worthwhile.length);
    if (listedBrands > listedBefore) paths = states.map(pathOf);
    else paths[index] = pathOf(state, index);
  }
  return gains.slice(0, requests);
}

/** @param brandPages pages of brands to read before this brand is known */
function bestPath({ brand, isFetched, pagesRead, unfetched }: Progress, brandPages: number): Path {
  const pool = [...unfetched];
  let best: Path = { density: 0, pages: 0 };
  for (let pages = 0; pagesRead + pages <= brand.pages.length; pages++) {
    if (pages > 0) pool.push(...(brand.pages[pagesRead + pages - 1] ?? []));
    const density = bestDensity(pool.sort(descending), brandPages + (isFetched ? 0 : 1) + pages);
    if (density > best.density) best = { density, pages };
  }
  return best;
}

/** @param before requests before the first of these models can be fetched */
function bestDensity(descendingCounts: readonly number[], before: number): number {
  let sum = 0;
  let best = 0;
  for (const [index, bras] of descendingCounts.entries()) {
    if (bras <= best) break;
    sum += bras;
    best = sum / (before + index + 1);
  }
  return best;
}

function indexOfBest(paths: readonly Path[]): number {
  let best = 0;
  for (const [index, { density }] of paths.entries()) if (density > (paths[best]?.density ?? 0)) best = index;
  return best;
}

function descending(a: number, b: number): number {
  return b - a;
}
