/** Sizing systems, and the bands and cups that models come in. Raw SQL: table-valued functions, and the statement of a view. */
import { sizeLabelsOf } from "../../../schema/views/size-label.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import type { MirrorReader } from "../../mirror/reader.ts";

/** Of brands and of sizes. */
const own = "select default_sizing_system as system from brand where default_sizing_system is not null";
const labels = "select j.key as system from size s, json_each(s.alternative_sizes) j";

/** It reads all sizes. */
export function listSizingSystems({ db }: MirrorReader): readonly string[] {
  const systems = db.prepare<[], string>(`${own} union ${labels} order by 1`).pluck().all();
  return systems.filter((system) => system.trim() !== "");
}

/** @param system in any case */
export function hasSizingSystem({ db }: MirrorReader, system: string): boolean {
  // Brands first: most systems are found there.
  const find = db.prepare<[string]>(
    `select 1 from (${own} union all ${labels}) where system = ? collate nocase limit 1`,
  );
  return find.get(system) !== undefined;
}

/** As the question `size-coverage` counts, for one brand. */
export interface SizeMatrix {
  readonly system: string;
  /** From small to large. */
  readonly bands: readonly number[];
  /** In the order of the system. */
  readonly cups: readonly string[];
  /** Models by band and cup; pairs without models are left out. */
  readonly cells: readonly { readonly band: number; readonly cup: string; readonly models: number }[];
  /** Models with a label of the system that is not a number and a cup. */
  readonly otherModels: number;
}

/** The sizing systems in which sizes of a brand have labels, those with the most models first. */
export interface BrandSystem {
  readonly system: string;
  readonly models: number;
}

const sizesOfBrand = `(select * from _size where model_id in (select id from _model where brand_id = :brand))`;
const sizesOfModel = "(select * from _size where model_id = :model)";

export function readBrandSystems({ db }: MirrorReader, brandId: number): BrandSystem[] {
  return db
    .prepare<object, BrandSystem>(
      `select upper(trim(system)) as system, count(distinct model_href) as models
       from (${sizeLabelsOf(sizesOfBrand)}) where system is not null and trim(system) <> ''
       group by 1 order by models desc, 1`,
    )
    .all({ brand: brandId });
}

/** @param system in any case */
export function readSizeMatrix({ db }: MirrorReader, brandId: number, system: string): SizeMatrix {
  const rows = db
    .prepare<object, { band: number | null; cup: string | null; models: number }>(
      `select band, cup, count(distinct model_href) as models from (${sizeLabelsOf(sizesOfBrand)})
       where upper(trim(system)) = upper(trim(:system)) group by band, cup
       order by min(cup_position) nulls last, cup nulls last, band nulls last`,
    )
    .all({ brand: brandId, system });
  const cells = rows.flatMap(({ band, cup, models }) =>
    band === null || cup === null ? [] : [{ band, cup, models }],
  );
  return {
    system,
    bands: [...new Set(cells.map(({ band }) => band))].sort((a, b) => a - b),
    cups: [...new Set(cells.map(({ cup }) => cup))],
    cells,
    otherModels: rows.find(({ band, cup }) => band === null && cup === null)?.models ?? 0,
  };
}

/** The ids of a brand's models with such a size. */
export function findModelsWithSize(
  { db }: MirrorReader,
  brandId: number,
  { system, band, cup }: { readonly system: string; readonly band: number; readonly cup: string },
): number[] {
  return db
    .prepare<object, number>(
      `select distinct r.id from (${sizeLabelsOf(sizesOfBrand)}) l join _resource r on r.url = l.model_href
       where upper(trim(l.system)) = upper(trim(:system)) and l.band = :band and l.cup = upper(:cup)`,
    )
    .pluck()
    .all({ brand: brandId, system, band, cup });
}

export interface SizeLabel {
  /** Of the size. */
  readonly href: string;
  /** Null for a label without a known system. */
  readonly system: string | null;
  readonly label: string;
}

/** All labels of the sizes of a model. */
export function readModelLabels({ db }: { readonly db: Connection }, modelId: number): SizeLabel[] {
  return db
    .prepare<object, SizeLabel>(
      `select href, system, label from (${sizeLabelsOf(sizesOfModel)}) where typeof(label) = 'text'
       order by system, band, cup_position, label`,
    )
    .all({ model: modelId });
}
