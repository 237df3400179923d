/** Names of resources, and of the brands and models that they belong to. Raw SQL: tables of one kind each. */
import type { MirrorReader } from "../../mirror/reader.ts";
import { fromStored } from "../../mirror/rows/cells.ts";

/** Null for a name that is not known. A brand and a model belong to themselves. */
export interface OwnerNames {
  readonly brandHref: string | null;
  readonly brand: string | null;
  readonly model: string | null;
}

/** By URL. */
export function readOwnerNames(
  { db }: MirrorReader,
  hrefs: readonly string[],
): ReadonlyMap<string, OwnerNames> {
  const rows = db
    .prepare<[string], Record<"href" | "brandHref" | "brand" | "model", unknown>>(
      `select r.url as href, brand.url as "brandHref", b.name as brand, coalesce(m.full_name, m.name) as model
       from json_each(?) j join _resource r on r.url = j.value
       left join _size s on s.id = r.id and r.kind = 'size'
       left join _model m on m.id = coalesce(s.model_id, r.id)
       left join _brand b on b.id = coalesce(m.brand_id, r.id)
       left join _resource brand on brand.id = b.id`,
    )
    .all(JSON.stringify(hrefs));
  return new Map(
    rows.map(({ href, brandHref, brand, model }) => [
      String(href),
      { brandHref: textOf(brandHref), brand: textOf(brand), model: textOf(model) },
    ]),
  );
}

/** `of` is the name of what it is a part of: the brand of a model, the model of a size or of a list of sizes. */
export interface ResourceName {
  readonly name: string | null;
  readonly of: string | null;
}

const maxOwners = 4;

/** By URL. One that is not fetched yet has its name in the list that led to it. */
export function readResourceNames(
  { db }: MirrorReader,
  hrefs: readonly string[],
): ReadonlyMap<string, ResourceName> {
  const rows = db
    .prepare<[string], { href: string; depth: number; name: unknown }>(
      `with recursive chain (href, id, depth) as (
         select r.url, r.id, 0 from json_each(?) j join _resource r on r.url = j.value
         union all
         select c.href, r.owner_id, c.depth + 1 from chain c join _resource r on r.id = c.id
         where r.owner_id is not null and c.depth < ${maxOwners})
       select c.href, c.depth, coalesce(b.name, m.full_name, m.name, s.size,
         (select e.name from _member e where e.item_id = c.id and e.name is not null limit 1)) as name
       from chain c left join _brand b on b.id = c.id left join _model m on m.id = c.id left join _size s on s.id = c.id
       order by c.depth`,
    )
    .all(JSON.stringify(hrefs));
  const chains = Map.groupBy(rows, ({ href }) => href);
  return new Map(
    [...chains].map(([href, chain]) => {
      const [own, ...owners] = chain.map(({ name }) => textOf(name));
      return [href, { name: own ?? null, of: owners.find((name) => name !== null) ?? null }];
    }),
  );
}

function textOf(stored: unknown): string | null {
  const cell = fromStored(stored);
  return typeof cell === "string" ? cell : null;
}
