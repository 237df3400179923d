/** Adds to changes what people call their resources: the keys that `armoire show` takes, and the names of brand and model. */
import { entities } from "../../schema/entities.ts";
import type { Cell } from "../../schema/fields.ts";
import { resourceKeyFrom } from "../../schema/views/resource-key.ts";
import type { Connection } from "../mirror/file/connection.ts";
import { rowsAt } from "../mirror/past/as-of.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { entityTable } from "../mirror/rows/versioned-rows.ts";
import { compareText } from "../platform/text/compare-text.ts";
import type { Change, Reported } from "./change.ts";
import type { StateTable } from "./items.ts";

/** All are null if neither state knows the resource. */
export interface ResourceLabels {
  /** Such as `brand/model/size`; the URL without slugs. */
  readonly key: string | null;
  /** The name of the brand of a model or size; null for others. */
  readonly brand: Cell;
  /** The name of the model of a size; null for others. */
  readonly model: Cell;
}

/** @param kind the table of its row */
export type FindLabels = (href: string, kind: string) => ResourceLabels | null;

export type Keyed<Found> = Found & ResourceLabels;

/** @param run finds labels as they were when it had closed */
export function createLabelFinder(db: Connection, run: number): FindLabels {
  const rowOf = (name: string, id: string): string => {
    const entity = entities.find(({ table }) => `_${table}` === name);
    if (entity === undefined) return `(select * from main.${name} where id = ${id})`;
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

/** Labels from the tables of an export. Close it: it may be reading a file. */
export interface TableLabels {
  /** Takes less time if sizes are asked for in the order of their URLs. */
  readonly find: FindLabels;
  close(): void;
}

interface NamedLabels {
  readonly name: Cell;
  readonly labels: ResourceLabels;
}

type LabelsByHref = ReadonlyMap<string, NamedLabels>;

/** Brands and models are read when they are first needed. Sizes are not kept: there may be millions. */
export function createTableLabels(tables: readonly StateTable[]): TableLabels {
  const readBrand = onceRead(() => readBrands(tables));
  const readModel = onceRead(() => readModels(tables, readBrand));
  const sizes = forwardReader(() => readCells(tables, "size", ["model_href", "size"]));
  return {
    find(href, kind) {
      if (kind === "brand") return readBrand(href)?.labels ?? null;
      if (kind === "model") return readModel(href)?.labels ?? null;
      if (kind === "bra" || kind === "measurement") return { ...unlabelled, key: lastSegment(href) };
      const [, modelHref = null, size = null] = (kind === "size" ? sizes.find(href) : undefined) ?? [];
      if (modelHref === null) return null;
      const model = readModel(String(modelHref));
      const modelKey = model?.labels.key ?? null;
      const key = joinKey([modelKey === modelHref ? null : modelKey, size], href);
      return { key, brand: model?.labels.brand ?? null, model: model?.name ?? null };
    },
    close: sizes.close,
  };
}

/** Reads all labels when the first one is needed. */
function onceRead(read: () => LabelsByHref): (href: string) => NamedLabels | undefined {
  let labels: LabelsByHref | null = null;
  return (href) => {
    labels ??= read();
    return labels.get(href);
  };
}

function readBrands(tables: readonly StateTable[]): LabelsByHref {
  const brands = new Map<string, NamedLabels>();
  for (const [href, slug = null, name = null] of readCells(tables, "brand", ["slug", "name"]))
    brands.set(href, { name, labels: { ...unlabelled, key: joinKey([slug], href) } });
  return brands;
}

function readModels(
  tables: readonly StateTable[],
  readBrand: (href: string) => NamedLabels | undefined,
): LabelsByHref {
  const models = new Map<string, NamedLabels>();
  const columns = ["brand_href", "brand_slug", "slug", "full_name", "name"];
  for (const [href, brandHref, brandSlug = null, slug = null, fullName, name = null] of readCells(
    tables,
    "model",
    columns,
  )) {
    const brand = readBrand(String(brandHref))?.name ?? null;
    const labels = { ...unlabelled, key: joinKey([brandSlug, slug], href), brand };
    models.set(href, { name: fullName ?? name, labels });
  }
  return models;
}

/** The URL, if a part is missing. */
const joinKey = (parts: readonly Cell[], href: string): string =>
  parts.some((part) => part === null || part === "") ? href : parts.join("/");

const lastSegment = (href: string): string | null => href.replace(/\/$/, "").split("/").at(-1) ?? null;

type Cells = readonly [href: string, ...cells: Cell[]];

function* readCells(
  tables: readonly StateTable[],
  name: string,
  columns: readonly string[],
): Generator<Cells> {
  const table = tables.find((other) => other.name === name);
  const [hrefAt = -1, ...at] = ["href", ...columns].map((column) => table?.columns.indexOf(column) ?? -1);
  for (const row of table?.rows() ?? [])
    yield [String(row[hrefAt]), ...at.map((index) => row[index] ?? null)];
}

/** Finds rows by their URLs, in whose order they are. Reads on from the last one, or again from the first. */
function forwardReader(read: () => Generator<Cells>) {
  let rows = read();
  let last: Cells | null = null;
  return {
    find(href: string): Cells | null {
      if (last !== null && compareText(href, last[0]) < 0) {
        rows.return(undefined);
        rows = read();
        last = null;
      }
      while (last === null || compareText(last[0], href) < 0) {
        const { done, value } = rows.next();
        if (done) return null;
        last = value;
      }
      return last[0] === href ? last : null;
    },
    close: () => void rows.return(undefined),
  };
}

const unlabelled: ResourceLabels = { key: null, brand: null, model: null };

export function* withLabels<Found extends Change | Reported>(
  changes: Iterable<Found>,
  findLabels: FindLabels,
): Generator<Keyed<Found>> {
  for (const change of changes)
    yield Object.assign(
      { kind: change.kind, ...(findLabels(change.href, change.kind) ?? unlabelled) },
      change,
    );
}
