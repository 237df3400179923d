/** Finds brands as the user names them: by URL, or by name or slug in any spelling. */
import { type SqlBool, sql } from "kysely";
import { plainName, similarNames, spellings } from "../platform/text/fuzzy-names.ts";
import { prepare } from "./file/statements.ts";
import { q } from "./queries/query-builder.ts";
import type { MirrorReader } from "./reader.ts";

export type FoundBrands =
  | { readonly certainty: "known"; readonly ids: readonly number[] }
  /** Their names match roughly; only their slugs, which are not fetched yet, can confirm it. */
  | { readonly certainty: "likely"; readonly ids: readonly number[] }
  | { readonly certainty: "none"; readonly similar: readonly string[] };

interface ListedBrand {
  readonly id: number;
  readonly url: string;
  readonly name: unknown;
  readonly slug: unknown;
}

/** @param options.withGone also finds tombstones; default: false */
export function findBrands(
  mirror: MirrorReader,
  name: string,
  { withGone = false }: { readonly withGone?: boolean } = {},
): FoundBrands {
  const brands = listBrands(mirror, withGone);
  const idsOf = (found: readonly ListedBrand[]) => [...new Set(found.map(({ id }) => id))];
  const byUrl = idsOf(brands.filter(({ url }) => url === name));
  if (byUrl.length > 0) return { certainty: "known", ids: byUrl };
  // Another brand's name may be the same text.
  const bySlug = idsOf(brands.filter(({ slug }) => slug === name));
  if (bySlug.length > 0) return { certainty: "known", ids: bySlug };
  for (const spell of spellings) {
    const isMeant = isCalled(name, spell);
    const matching = brands.filter((brand) => isMeant([brand.name, brand.slug]));
    const known = matching.filter((brand) => brand.slug !== null || isSameName(brand.name, name));
    if (known.length > 0) return { certainty: "known", ids: idsOf(known) };
    if (matching.length > 0) return { certainty: "likely", ids: idsOf(matching) };
  }
  const names = brands.map((brand) => brand.name).filter((known) => typeof known === "string");
  return { certainty: "none", similar: similarNames(name, names, 3) };
}

/** A brand has one row for each of its names. */
function listBrands({ db }: MirrorReader, withGone: boolean): ListedBrand[] {
  return prepare(db, (p: { withGone: 0 | 1 }) =>
    q
      .selectFrom("_resource as r")
      .leftJoin("_member as m", "m.item_id", "r.id")
      .leftJoin("_brand as b", "b.id", "r.id")
      .select((eb) => ["r.id", "r.url", eb.fn.coalesce("m.name", "b.name").as("name"), "b.slug"])
      .distinct()
      .where("r.kind", "=", "brand")
      .where(sql<SqlBool>`(${p.withGone} or r.state <> 'gone')`),
  ).all({ withGone: withGone ? 1 : 0 });
}

/** The hint for a name that no brand has. */
export function hintAtBrands(similar: readonly string[]): string {
  return similar.length > 0
    ? `Did you mean ${similar.map((name) => JSON.stringify(name)).join(" or ")}?`
    : "`armoire query \"select name from known where kind = 'brand'\"` lists the brands that the mirror knows.";
}

/** Whether one of the names of a resource equals the given one in a spelling, which is one of `spellings`. */
export function isCalled(
  requestedName: string,
  spell: (name: string) => string,
): (names: readonly unknown[]) => boolean {
  const key = spell(requestedName);
  return (names) => key !== "" && names.some((text) => typeof text === "string" && spell(text) === key);
}

const isSameName = (actual: unknown, expected: string): boolean =>
  typeof actual === "string" && plainName(actual) === plainName(expected);
