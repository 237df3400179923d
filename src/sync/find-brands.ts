/** From what a person calls a brand to its resources: a listed name, a slug that is held, or a name that slugifies to it. */
import type { MirrorReader } from "../mirror/mirror.ts";
import { namesAlike, slugify } from "../mirror/names.ts";
import { SyncError } from "./sync-error.ts";

export type FoundBrands =
  | { readonly certainty: "known"; readonly ids: readonly number[] }
  /** Their names look like it; only their own slugs can confirm. */
  | { readonly certainty: "likely"; readonly ids: readonly number[] }
  | { readonly certainty: "none"; readonly alike: readonly string[] };

interface ListedBrand {
  readonly id: number;
  readonly name: string | null;
  readonly slug: string | null;
}

export function findBrands(mirror: MirrorReader, wanted: string): FoundBrands {
  const listed = mirror.db
    .prepare<[], ListedBrand>(
      `select distinct r.id, m.name, b.slug from _resource r
       left join _member m on m.item_id = r.id left join _brand b on b.id = r.id
       where r.kind = 'brand' and r.state <> 'gone'`,
    )
    .all();
  const idsWhere = (matches: (brand: ListedBrand) => boolean) => [
    ...new Set(listed.filter(matches).map((brand) => brand.id)),
  ];
  const byName = idsWhere((brand) => fold(brand.name) === fold(wanted));
  if (byName.length > 0) return { certainty: "known", ids: byName };
  const slug = slugify(wanted);
  const bySlug = idsWhere((brand) => brand.slug === wanted || (slug !== "" && brand.slug === slug));
  if (bySlug.length > 0) return { certainty: "known", ids: bySlug };
  const likely = idsWhere((brand) => brand.slug === null && slug !== "" && slugify(brand.name) === slug);
  if (likely.length > 0) return { certainty: "likely", ids: likely };
  const names = listed.flatMap(({ name }) => (typeof name === "string" ? [name] : []));
  return { certainty: "none", alike: namesAlike(wanted, names, 3) };
}

export function unknownBrand(wanted: string, alike: readonly string[]): SyncError {
  return new SyncError(
    "unknown-brand",
    `The service lists no brand called ${JSON.stringify(wanted)}`,
    alike.length > 0
      ? `Did you mean ${alike.map((name) => JSON.stringify(name)).join(" or ")}?`
      : "`armoire query 'select name from known'` lists the brands that the mirror knows.",
  );
}

function fold(name: unknown): string {
  return typeof name === "string" ? name.normalize("NFC").toLowerCase() : "";
}
