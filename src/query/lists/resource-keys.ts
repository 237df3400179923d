/** Short names of resources for addresses of pages: the slugs of brands and models. Raw SQL: two tables of one kind each. */
import type { MirrorReader } from "../../mirror/reader.ts";
import { fromStored } from "../../mirror/rows/cells.ts";

/** A brand, or a model of a brand. A key is its slug, or its URL if it has none of its own. */
export type ResourceKey =
  | { readonly kind: "brand"; readonly brand: string }
  | { readonly kind: "model"; readonly brand: string; readonly model: string };

export interface KeyedResource {
  readonly id: number;
  readonly href: string;
}

/** The brand of this slug or URL; null if there is none, or several. */
export function findBrandByKey({ db }: MirrorReader, key: string): KeyedResource | null {
  const select = db.prepare<[string, string], KeyedResource>(
    // A union: with `or`, SQLite would look at all resources.
    `select r.id, r.url as href from _resource r where r.id in (
       select id from _brand where slug = ? union select id from _resource where url = ? and kind = 'brand'
     ) and exists (select 1 from _brand where id = r.id) limit 2`,
  );
  return only(select.all(key, key));
}

/** The model of this slug or URL; null if there is none, or several. */
export function findModelByKey({ db }: MirrorReader, brandId: number, key: string): KeyedResource | null {
  const select = db.prepare<object, KeyedResource>(
    `select r.id, r.url as href from _model m join _resource r on r.id = m.id where m.id in (
       select id from _model where brand_id = :brandId and slug = :key
       union select id from _resource where url = :key and kind = 'model'
     ) and m.brand_id = :brandId limit 2`,
  );
  return only(select.all({ brandId, key }));
}

const only = (found: readonly KeyedResource[]): KeyedResource | null =>
  found.length === 1 ? (found[0] ?? null) : null;

/** The keys of the brands and models among these resources, and of the models of the sizes among them, by URL. */
export function readResourceKeys(
  { db }: MirrorReader,
  hrefs: readonly string[],
): ReadonlyMap<string, ResourceKey> {
  const rows = db
    .prepare<[string], Record<"href" | "kind" | "brand" | "brandHref" | "model" | "modelHref", unknown>>(
      `select r.url as href, r.kind, b.slug as brand, brand.url as brandHref, m.slug as model, model.url as modelHref
       from json_each(?) j join _resource r on r.url = j.value
       left join _size s on s.id = r.id and r.kind = 'size'
       left join _model m on m.id = coalesce(s.model_id, r.id)
       left join _resource model on model.id = m.id
       left join _brand b on b.id = coalesce(m.brand_id, r.id)
       left join _resource brand on brand.id = b.id`,
    )
    .all(JSON.stringify(hrefs));
  return new Map(
    rows.flatMap(({ href, brand, brandHref, model, modelHref }): [string, ResourceKey][] => {
      if (brandHref === null) return [];
      const keys = { brand: keyOf(brand, brandHref) };
      const key: ResourceKey =
        modelHref === null
          ? { kind: "brand", ...keys }
          : { kind: "model", ...keys, model: keyOf(model, modelHref) };
      return [[String(href), key]];
    }),
  );
}

/** @param slug of any type; one that is empty, contains a slash or is no valid Unicode would not be one part of an address */
export function keyOf(slug: unknown, href: unknown): string {
  const text = fromStored(slug);
  return typeof text === "string" &&
    text.isWellFormed() &&
    /^[^/]+$/.test(text) &&
    text !== "." &&
    text !== ".."
    ? text
    : String(href);
}
