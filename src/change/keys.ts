/** Adds to changes what people call their resources: the keys that `armoire show` takes, and the names of brand and model. */
import { entityTables } from "../../schema/entities/entity-tables.ts";
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
  // Reading present rows alone takes less time, and without a later run they are the same.
  const lastRun = db.prepare<[], number>("select coalesce(max(id), 0) from main._run").pluck().get() ?? 0;
  const rowOf = (name: string, id: string): string => {
    const entity = entityTables.find(({ table }) => `_${table}` === name);
    if (entity === undefined || run >= lastRun) return `(select * from main.${name} where id = ${id})`;
    return `(${rowsAt(entityTable(entity.table), run, `id = ${id}`)})`;
  };
  const brandName = `(select name from ${rowOf("_brand", "m.brand_id")})`;
  const ofModel = (id: string, what: string) => `(select ${what} from ${rowOf("_model", id)} m)`;
  // Raw: an expression that views share, and rows of the past.
  const select = db.prepare<[string], Pick<LabelRow, "key" | "brand">>(
    `select ${resourceKeyFrom("r", rowOf)} as key,
       case r.kind when 'model' then ${ofModel("r.id", brandName)} end as brand
     from main._resource r where r.url = ?`,
  );
  // Prepared with their first use: many comparisons have no size.
  const selectSize = once(() =>
    db.prepare<{ href: string }, { modelId: number; size: unknown }>(
      `select model_id as modelId, size from ${rowOf("_size", "(select id from main._resource where url = :href)")}`,
    ),
  );
  const selectModel = once(() =>
    db.prepare<{ id: number }, LabelRow>(
      `select nullif(brand_slug, '') || '/' || nullif(slug, '') as key, ${brandName} as brand,
       coalesce(full_name, name) as model from ${rowOf("_model", ":id")} m`,
    ),
  );
  // Sizes of one model follow one another.
  let last: { readonly id: number; readonly labels: LabelRow | undefined } | null = null;
  const modelOf = (id: number): LabelRow | undefined => {
    if (last?.id !== id) last = { id, labels: selectModel().get({ id }) };
    return last.labels;
  };
  return (href, kind) => {
    const size = kind === "size" ? selectSize().get({ href }) : undefined;
    const model = size === undefined ? undefined : modelOf(size.modelId);
    const key =
      typeof model?.key === "string" && typeof size?.size === "string" && size.size !== ""
        ? `${model.key}/${size.size}`
        : null;
    const row = key === null ? select.get(href) : { key, brand: null };
    if (row === undefined) return null;
    return {
      key: typeof row.key === "string" ? row.key : null,
      brand: fromStored(model === undefined ? row.brand : model.brand),
      model: fromStored(model === undefined ? null : model.model),
    };
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

type LabelRow = Readonly<Record<keyof ResourceLabels, unknown>>;

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
