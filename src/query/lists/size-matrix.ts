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

/** As the question `size-coverage` counts, for one brand and one sizing system. */
export interface SizeMatrix {
  /** In capitals. */
  readonly system: string;
  /** Models with a label of the system. */
  readonly models: number;
  /** From small to large. */
  readonly bands: readonly number[];
  /** In the order of the system. */
  readonly cups: readonly string[];
  /** Models by band and cup; pairs without models are left out. */
  readonly cells: readonly { readonly band: number; readonly cup: string; readonly models: number }[];
  /** Models with a label of the system that is not a number and a cup. */
  readonly otherModels: number;
}

const sizesOfBrand = `(select * from _size where model_id in (select id from _model where brand_id = :brand))`;
const sizesOfModel = "(select * from _size where model_id = :model)";

/**
 * Those of all sizing systems in which sizes of a brand have labels, the one with the most models first. It reads all sizes of
 * the brand, once for all systems.
 */
export function readSizeMatrices({ db }: MirrorReader, brandId: number): SizeMatrix[] {
  interface Counted {
    readonly system: string;
    readonly band: number | null;
    readonly cup: string | null;
    readonly models: number;
    readonly isOfSystem: 0 | 1;
  }
  const rows = db
    .prepare<object, Counted>(
      `with labels as materialized (
         select model_href, upper(trim(system)) as system, band, cup, cup_position as position
         from (${sizeLabelsOf(sizesOfBrand)}) where system is not null and trim(system) <> '')
       select system, null as band, null as cup, null as position, count(distinct model_href) as models, 1 as isOfSystem
       from labels group by system
       union all
       select system, band, cup, min(position), count(distinct model_href), 0 from labels group by system, band, cup
       order by position nulls last, cup nulls last, band nulls last`,
    )
    .all({ brand: brandId });
  return [...Map.groupBy(rows, ({ system }) => system)]
    .map(([system, ofSystem]) => {
      const cells = ofSystem.flatMap(({ band, cup, models }) =>
        band === null || cup === null ? [] : [{ band, cup, models }],
      );
      const others = ofSystem.filter(({ band, cup }) => band === null && cup === null);
      return {
        system,
        models: others.find(({ isOfSystem }) => isOfSystem === 1)?.models ?? 0,
        bands: [...new Set(cells.map(({ band }) => band))].sort((a, b) => a - b),
        cups: [...new Set(cells.map(({ cup }) => cup))],
        cells,
        otherModels: others.find(({ isOfSystem }) => isOfSystem === 0)?.models ?? 0,
      };
    })
    .sort((a, b) => b.models - a.models || (a.system < b.system ? -1 : 1));
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
