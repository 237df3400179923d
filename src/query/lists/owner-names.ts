/** Names of the brands and models that resources belong to. Raw SQL: tables of one kind each. */
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

function textOf(stored: unknown): string | null {
  const cell = fromStored(stored);
  return typeof cell === "string" ? cell : null;
}
