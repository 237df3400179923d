/** Adds to changes what people call their resources: the keys that `armoire show` takes, and the names of brand and model. */
import { entities } from "../../schema/entities.ts";
import type { Cell } from "../../schema/fields.ts";
import { resourceKeyFrom } from "../../schema/views/resource-key.ts";
import type { Connection } from "../mirror/file/connection.ts";
import { rowsAt } from "../mirror/past/as-of.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { entityTable } from "../mirror/rows/versioned-rows.ts";
import type { Change, Reported } from "./change.ts";

/** All are null if no mirror is compared, or it does not know the resource. */
export interface ResourceLabels {
  /** Such as `brand/model/size`; the URL without slugs. */
  readonly key: string | null;
  /** The name of the brand of a model or size; null for others. */
  readonly brand: Cell;
  /** The name of the model of a size; null for others. */
  readonly model: Cell;
}

export type FindLabels = (href: string) => ResourceLabels | null;

export type Keyed<Found> = Found & ResourceLabels;

/** @param run finds labels as they were when it had closed; null for the present ones, also where views show the past */
export function createLabelFinder(db: Connection, run: number | null): FindLabels {
  const rowOf = (name: string, id: string): string => {
    const entity = entities.find(({ table }) => `_${table}` === name);
    if (run === null || entity === undefined) return `(select * from main.${name} where id = ${id})`;
    return `(${rowsAt(entityTable(entity), run, `id = ${id}`)})`;
  };
  const modelOf = (id: string, what: string) => `(select ${what} from ${rowOf("_model", id)} m)`;
  const modelOfSize = (what: string) =>
    `(select ${modelOf("s.model_id", what)} from ${rowOf("_size", "r.id")} s)`;
  const brandName = `(select name from ${rowOf("_brand", "m.brand_id")})`;
  // Raw: an expression that views share, and rows of the past.
  const select = db.prepare<[string], Record<keyof ResourceLabels, unknown>>(
    `select ${resourceKeyFrom("r", rowOf)} as key,
       case r.kind when 'model' then ${modelOf("r.id", brandName)} when 'size' then ${modelOfSize(brandName)} end as brand,
       case r.kind when 'size' then ${modelOfSize("coalesce(m.full_name, m.name)")} end as model
     from main._resource r where r.url = ?`,
  );
  return (href) => {
    const row = select.get(href);
    if (row === undefined) return null;
    const { key, brand, model } = row;
    return {
      key: typeof key === "string" ? key : null,
      brand: fromStored(brand),
      model: fromStored(model),
    };
  };
}

const unlabelled: ResourceLabels = { key: null, brand: null, model: null };

export function* withLabels<Found extends Change | Reported>(
  changes: Iterable<Found>,
  findLabels: FindLabels,
): Generator<Keyed<Found>> {
  for (const change of changes)
    yield Object.assign({ kind: change.kind, ...(findLabels(change.href) ?? unlabelled) }, change);
}
