/**
 * A small service. Each resource has one of several versions with unusual values. In version 0 it is gone. Brands and models of
 * version 5 exist but are not listed: only other links, of unknown kind, lead to them.
 */
import { entity, page, root, urlOf, worldOf } from "../../mirror/support/world.ts";

/** The version of each of `places`. */
export type Versions = readonly number[];

const brands = ["brands/a/", "brands/b/"];
const models = ["m/1/", "m/2/", "m/3/"];
const sizes = ["s/1/", "s/2/", "s/3/", "s/4/"];
export const places: readonly string[] = [...brands, ...models, ...sizes];
export const versionCount = 8;
const unlisted = 5;
/** Links that are followed only on request: to a brand, a model, and related models. */
export const otherLinks: readonly string[] = ["featured", "newest", "related"];

/** Differences between versions: numbers beyond 2^53, text that is no UTF-8, null, no field, only a time. */
const bodies: readonly object[] = [
  {},
  { name: "One", bra_count: 1, last_modified_at: "2026-01-01T00:00:00" },
  { name: "One", bra_count: 1, last_modified_at: "2026-01-01T00:00:00.5" },
  { name: "\ud800 alone", bra_count: "@12345678901234567890", last_modified_at: "2026-01-02T00:00:00" },
  { name: null, bra_count: 0, last_modified_at: "2026-01-03T00:00:00" },
  { bra_count: 1, official_url: "https://example.org/\0,\"'=1+1\n", twitter: -0.5, last_modified_at: "x" },
  {
    name: "",
    bra_count: 1,
    twitter: { deep: [1] },
    type: "=1",
    band: 65,
    last_modified_at: "2026-01-01T00:00:00",
  },
  // Equal to the first, with fewer pictures.
  { name: "One", bra_count: 1, last_modified_at: "2026-01-01T00:00:00" },
];

const pictureCounts = [0, 1, 1, 2, 0, 3, 1, 0];

export function worldOfVersions(versions: Versions): Map<string, string> {
  const versionOf = (place: string) => versions[places.indexOf(place)] ?? 0;
  const isThere = (place: string) => versionOf(place) > 0;
  const isListed = (place: string) => isThere(place) && versionOf(place) !== unlisted;
  // A model's version decides its brand, which also lists it.
  const brandOf = (place: string) => brands[versionOf(place) % brands.length] ?? "";
  const modelOf = (place: string) => models[sizes.indexOf(place) % models.length] ?? "";
  const pictures = (place: string) =>
    Array.from({ length: pictureCounts[versionOf(place)] ?? 0 }, (_, n) => ({
      url: `${place}${n * versionOf(place)}.png`,
      text: null,
    }));
  /** The pages of a list, an item each, so that changes also add and end pages. */
  const list = (place: string, items: readonly string[]): Record<string, object> => {
    const meta = { collection_total: items.length };
    if (items.length === 0) return { [place]: page([], null, {}, meta) };
    const placeOf = (n: number) => (n === 0 ? place : `${place}?page=${n + 1}`);
    return Object.fromEntries(
      items.map((item, n) => [
        placeOf(n),
        page([item], n + 1 < items.length ? placeOf(n + 1) : null, {}, meta),
      ]),
    );
  };
  const world = worldOf({
    "": root({ brands: urlOf("brands/"), featured: urlOf("brands/b/"), newest: urlOf("m/3/") }),
    ...list("brands/", brands.filter(isListed)),
    ...merge(brands.filter(isThere), (place) => ({
      [place]: entity(bodies[versionOf(place)] ?? {}, { models: urlOf(`${place}models/`) }),
      ...list(
        `${place}models/`,
        models.filter((model) => isListed(model) && brandOf(model) === place),
      ),
    })),
    ...merge(models.filter(isThere), (place) => ({
      [place]: entity(
        { ...bodies[versionOf(place)], manufacturer_stock_pictures: pictures(place) },
        {
          ...{ brand: urlOf(brandOf(place)), sizes: urlOf(`${place}sizes/`) },
          related: urlOf(`${place}related/`),
        },
      ),
      // Models of later versions.
      ...list(
        `${place}related/`,
        models.filter((model) => versionOf(model) > versionOf(place)),
      ),
      ...list(
        `${place}sizes/`,
        sizes.filter((size) => isThere(size) && modelOf(size) === place),
      ),
    })),
    ...merge(sizes.filter(isThere), (place) => ({
      [place]: entity(bodies[versionOf(place)] ?? {}, { model: urlOf(modelOf(place)) }),
    })),
  });
  return new Map([...world].map(([url, text]) => [url, text.replace(/"@(\d+)"/g, "$1")]));
}

const merge = (
  places: readonly string[],
  of: (place: string) => Record<string, object>,
): Record<string, object> => Object.assign({}, ...places.map(of));
