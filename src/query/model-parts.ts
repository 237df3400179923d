/** What belongs to a model: its brand, sizes, pictures and related models. */
import { sql } from "kysely";
import type { Cell } from "../../schema/fields.ts";
import { resourceKey } from "../../schema/views/resource-key.ts";
import { prepare } from "../mirror/file/statements.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { type ListState, readListState } from "./lists/list-state.ts";
import { type PublicViews, q } from "./views.ts";

export interface ModelParts {
  /** Null if it is unknown. `name` and `system` are null if it is not fetched. */
  readonly brand: { readonly href: string; readonly name: Cell; readonly system: Cell } | null;
  readonly sizes: readonly SizeOfModel[];
  readonly sizeList: ListState;
  /** The manufacturer's, in the order of the service. */
  readonly pictures: readonly { readonly url: Cell; readonly text: Cell }[];
  /** `name` is that of the link. `model` is null if the model is not fetched. Only links that a sync followed. */
  readonly related: readonly {
    readonly name: string;
    readonly href: string;
    /** Null if the model is not fetched, as the names. */
    readonly key: string | null;
    readonly brand: Cell;
    readonly model: Cell;
  }[];
}

export interface SizeOfModel {
  readonly href: string;
  /** The label. */
  readonly size: Cell;
  readonly band: Cell;
  readonly cup: Cell;
  /** How many bras of it users own; null if unknown. */
  readonly bra_count: Cell;
  /** `listed`: not fetched yet, so that only its label is known. */
  readonly state: "held" | "listed" | "gone";
}

/** Of the brand of the model `m`. A subquery: for a join, SQLite would read all brands. */
const ofBrand = (column: "name" | "default_sizing_system") =>
  q.selectFrom("brand as b").select(`b.${column}`).whereRef("b.href", "=", sql.ref("m.brand_href"));

export function readModelParts(mirror: MirrorReader, href: string): ModelParts {
  const { db } = mirror;
  const brand = prepare(db, (p: { href: string }) =>
    q
      .selectFrom("model as m")
      .select("m.brand_href as href")
      .select([ofBrand("name").as("name"), ofBrand("default_sizing_system").as("system")])
      .where("m.href", "=", p.href),
  ).get({ href });
  const pictures = prepare(db, (p: { href: string }) =>
    q.selectFrom("model_picture").select(["url", "text"]).where("model_href", "=", p.href).orderBy("n"),
  ).all({ href });
  const related = prepare(db, (p: { href: string }) =>
    q
      .selectFrom("relation as l")
      .leftJoin("model as m", "m.href", "l.related_href")
      .innerJoin("_resource as r", "r.url", "l.related_href")
      .select(["l.name", "l.related_href as href", ofBrand("name").as("brand")])
      .select(sql<string | null>`${sql.raw(resourceKey("r"))}`.as("key"))
      .select(({ fn }) => fn.coalesce("m.full_name", "m.name").as("model"))
      .where("l.href", "=", p.href)
      .orderBy("l.name")
      .orderBy("l.related_href"),
  ).all({ href });
  return {
    brand:
      brand === undefined || brand.href === null
        ? null
        : { href: brand.href, name: fromStored(brand.name), system: fromStored(brand.system) },
    sizes: readSizes({ db }, href),
    sizeList: readListState(mirror, href, "sizes"),
    pictures: pictures.map(({ url, text }) => ({ url: fromStored(url), text: fromStored(text) })),
    related: related.map((row) => ({ ...row, brand: fromStored(row.brand), model: fromStored(row.model) })),
  };
}

/** Held ones name their model; others are known only from its list. */
function readSizes({ db }: Pick<MirrorReader, "db">, href: string): SizeOfModel[] {
  const held = prepare(db, (p: { href: string }) =>
    q
      .selectFrom("size")
      .select(["href", "size", "band", "cup", "bra_count", "gone_at"])
      .where("model_href", "=", p.href),
  ).all({ href });
  // Raw: the order of a cross join is that of its tables, so that SQLite looks up these URLs and not all sizes.
  const listed = db
    .prepare<{ href: string }, Pick<PublicViews["known"], "href" | "name" | "state">>(
      `with item as materialized (
         select item.url from _resource owner cross join _resource list on list.owner_id = owner.id
           cross join _resource item on item.owner_id = list.id where owner.url = :href)
       select k.href, k.name, k.state from item cross join known k on k.href = item.url
       where k.kind = 'size' and k.owner_href = :href`,
    )
    .all({ href });
  const hrefs = new Set(held.map((size) => size.href));
  const sizes = [
    ...held.map(
      ({ gone_at, size, band, cup, bra_count, ...own }): SizeOfModel => ({
        ...own,
        ...{
          size: fromStored(size),
          band: fromStored(band),
          cup: fromStored(cup),
          bra_count: fromStored(bra_count),
        },
        state: gone_at === null ? "held" : "gone",
      }),
    ),
    ...listed
      .filter((known) => !hrefs.has(known.href))
      .map(
        (known): SizeOfModel => ({
          ...{ href: known.href, size: fromStored(known.name), band: null, cup: null, bra_count: null },
          state: known.state === "gone" ? "gone" : "listed",
        }),
      ),
  ];
  return sizes.sort((a, b) => (a.href < b.href ? -1 : 1));
}
