/** From what a person calls a brand to its resources: its URL, or its name or slug in any spelling. */

import { plainName, similarNames, spellings } from "../platform/fuzzy-names.ts";
import type { MirrorReader } from "./reader.ts";

export type FoundBrands =
  | { readonly certainty: "known"; readonly ids: readonly number[] }
  /** Their names look like it; only their own slugs can confirm. */
  | { readonly certainty: "likely"; readonly ids: readonly number[] }
  | { readonly certainty: "none"; readonly alike: readonly string[] };

interface ListedBrand {
  readonly id: number;
  readonly url: string;
  readonly name: string | null;
  readonly slug: string | null;
}

/** @param options.withGone also finds tombstones, by all that is known of them */
export function findBrands(
  mirror: MirrorReader,
  wanted: string,
  { withGone = false }: { readonly withGone?: boolean } = {},
): FoundBrands {
  const listed = mirror.db
    .prepare<[number], ListedBrand>(
      `select distinct r.id, r.url, coalesce(m.name, b.name) as name, b.slug from _resource r
       left join _member m on m.item_id = r.id left join _brand b on b.id = r.id
       where r.kind = 'brand' and (r.state <> 'gone' or ?)`,
    )
    .all(withGone ? 1 : 0);
  const idsOf = (brands: readonly ListedBrand[]) => [...new Set(brands.map(({ id }) => id))];
  const byUrl = idsOf(listed.filter(({ url }) => url === wanted));
  if (byUrl.length > 0) return { certainty: "known", ids: byUrl };
  for (const spell of spellings) {
    const called = listed.filter(isCalled(wanted, spell));
    const known = called.filter(({ slug, name }) => slug !== null || isSameName(name, wanted));
    if (known.length > 0) return { certainty: "known", ids: idsOf(known) };
    if (called.length > 0) return { certainty: "likely", ids: idsOf(called) };
  }
  const names = listed.flatMap(({ name }) => (typeof name === "string" ? [name] : []));
  return { certainty: "none", alike: similarNames(wanted, names, 3) };
}

/** What to do when nothing is called so. */
export function hintAtBrands(alike: readonly string[]): string {
  return alike.length > 0
    ? `Did you mean ${alike.map((name) => JSON.stringify(name)).join(" or ")}?`
    : "`armoire query \"select name from known where kind = 'brand'\"` lists the brands that the mirror knows.";
}

/** Whether a person may call a brand so, by its name or slug; at each of `spellings` in turn. */
export function isCalled(
  wanted: string,
  spell: (name: string) => string,
): (brand: { readonly name: unknown; readonly slug: unknown }) => boolean {
  const key = spell(wanted);
  return ({ name, slug }) =>
    key !== "" && [name, slug].some((text) => typeof text === "string" && spell(text) === key);
}

const isSameName = (name: string | null, wanted: string) =>
  name !== null && plainName(name) === plainName(wanted);
