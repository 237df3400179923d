/**
 * Lists of resources: filtered, sorted, with facets, and paged by key. In: what a list is made of, and a request. Out: its
 * rows in one order, whether for one page or all of them. Raw SQL: conditions, columns and order are put together.
 */
import type { Row } from "../../../exports/formats/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { fromStored } from "../../mirror/rows/cells.ts";

export interface List {
  /** Such as `_model t`; its rows have an `id`. */
  readonly from: string;
  /** SQL expressions by the names of the columns, over `t`; computed only for the rows that are read. */
  readonly columns: Readonly<Record<string, string>>;
  /** SQL expressions by the names of columns. Rows with null come last, rows that are equal by `id`. */
  readonly sorts: Readonly<Record<string, string>>;
  readonly facets: Readonly<Record<string, Facet>>;
}

export interface Facet {
  /** An SQL expression over `t`. It has few values. */
  readonly value: string;
  /** The same, and faster, where the tables are those of the present. Default: `value`. */
  readonly presentValue?: string;
  /** The value that is chosen without a request; null for all. */
  readonly default: Cell;
}

export interface ListRequest {
  readonly sort: string;
  readonly isDescending: boolean;
  /** The chosen values of facets; `any` for all of them. */
  readonly facets?: Readonly<Record<string, Cell | typeof anyValue>>;
  /** Only these resources, by id. Default: all. */
  readonly ids?: readonly number[] | null;
  /** An SQL condition over `t` that names no parameter, such as `t.brand_id = 7`. */
  readonly where?: string;
  /** Only rows after this one. Default: from the first. */
  readonly after?: PageKey | null;
}

/** Stands for all values of a facet, in place of its default. */
export const anyValue = Symbol("any");

/** The place of a row in a sorted list: the value that it is sorted by, and its id. */
export type PageKey = readonly [value: string | number | null, id: number];

export interface ListPage {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** The last row's place; null if there are no more rows. */
  readonly next: PageKey | null;
}

export interface FacetValue {
  readonly value: Cell;
  /** How many rows have it, with the other facets as chosen. */
  readonly count: number;
}

export interface FacetCounts {
  /** How many rows the list has. */
  readonly total: number;
  readonly facets: Readonly<Record<string, readonly FacetValue[]>>;
}

/** @param limit at most this many rows */
export function readListPage(
  mirror: MirrorReader,
  list: List,
  request: ListRequest,
  limit: number,
): ListPage {
  const columns = Object.keys(list.columns);
  const rows = [...readKeyedRows(mirror, list, request, limit + 1)];
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    columns,
    rows: shown.map(({ row }) => row),
    next: rows.length > limit && last !== undefined ? last.key : null,
  };
}

/** All rows, one by one. */
export function* readListRows(mirror: MirrorReader, list: List, request: ListRequest): Generator<Row> {
  for (const { row } of readKeyedRows(mirror, list, request, -1)) yield row;
}

interface KeyedRow {
  readonly key: PageKey;
  readonly row: Row;
}

function* readKeyedRows(
  mirror: MirrorReader,
  list: List,
  request: ListRequest,
  limit: number,
): Generator<KeyedRow> {
  const sort = list.sorts[request.sort];
  if (sort === undefined) throw new Error(`the list has no sort ${request.sort}`);
  const direction = request.isDescending ? "desc" : "asc";
  const { conditions, values } = conditionsOf(mirror, list, request, null);
  const [after, id] = request.after ?? [];
  if (id !== undefined) {
    const isBeyond = request.isDescending ? "<" : ">";
    conditions.push(
      after === null
        ? `((${sort}) is null and t.id > :afterId)`
        : `((${sort}) ${isBeyond} :after or (${sort}) is null or ((${sort}) = :after and t.id > :afterId))`,
    );
    values.afterId = id;
    if (after !== null) values.after = after;
  }
  const order = `sort_value is null, sort_value ${direction}, id`;
  const select = mirror.db.prepare<object, unknown[]>(
    `with chosen as materialized (
       select t.id as id, ${sort} as sort_value from ${list.from} where ${conditions.join(" and ")}
       order by ${order} limit :limit)
     select chosen.id, chosen.sort_value, ${Object.values(list.columns).join(", ")}
     from chosen cross join ${list.from} on t.id = chosen.id cross join _resource r on r.id = t.id
     order by chosen.sort_value is null, chosen.sort_value ${collationIn(sort)} ${direction}, chosen.id`,
  );
  const rows = select
    .raw()
    .safeIntegers()
    .iterate({ ...values, limit });
  for (const [rowId, value, ...cells] of rows)
    yield { key: [toKeyValue(value), Number(rowId)], row: cells.map(fromStored) };
}

const collationIn = (sort: string): string => (sort.endsWith("collate nocase") ? "collate nocase" : "");

/** Sort values are text or numbers that a double holds; others sort like their text. */
function toKeyValue(value: unknown): PageKey[0] {
  if (value === null || typeof value === "string") return value;
  return typeof value === "bigint" || typeof value === "number" ? Number(value) : String(fromStored(value));
}

/** Rows that have the same values of all facets, in their order. */
export interface FacetGroup {
  readonly count: number;
  readonly cells: readonly Cell[];
}

/** Counted with one pass over the rows, whatever values are chosen. @param request its facets and order make no difference */
export function countFacetGroups(
  mirror: MirrorReader,
  list: Pick<List, "from" | "facets">,
  request: Pick<ListRequest, "ids" | "where">,
): readonly FacetGroup[] {
  const names = Object.keys(list.facets);
  const { conditions, values } = conditionsOf(mirror, list, request, names);
  const expressions = Object.values(list.facets).map((facet) => valueIn(mirror, facet));
  return mirror.db
    .prepare<object, unknown[]>(
      `select count(*)${expressions.map((value, n) => `, ${value} as f${n}`).join("")} from ${list.from}
       where ${conditions.join(" and ")} group by ${names.map((_, n) => `f${n}`).join(", ")}`,
    )
    .raw()
    .all(values)
    .map(([count, ...cells]) => ({ count: Number(count), cells: cells.map(fromStored) }));
}

/** The values of all facets, of rows that have the chosen values of the others. */
export function facetsOf(
  list: Pick<List, "facets">,
  request: Pick<ListRequest, "facets">,
  groups: readonly FacetGroup[],
): FacetCounts {
  const names = Object.keys(list.facets);
  const isChosen = (cells: readonly Cell[], except: string | null) =>
    names.every((name, n) => {
      const chosen = chosenValue(list, request, name);
      return name === except || chosen === anyValue || same(cells[n] ?? null, chosen);
    });
  const facets = names.map((name, n) => {
    const counts = new Map<Cell, number>();
    for (const { count, cells } of groups) {
      const value = cells[n] ?? null;
      if (isChosen(cells, name)) counts.set(value, (counts.get(value) ?? 0) + count);
    }
    const sorted = [...counts].sort(([, a], [, b]) => b - a);
    return [name, sorted.map(([value, count]) => ({ value, count }))] as const;
  });
  const total = groups.filter(({ cells }) => isChosen(cells, null));
  return { total: total.reduce((sum, { count }) => sum + count, 0), facets: Object.fromEntries(facets) };
}

/** @returns `anyValue` if all rows count, whatever their value */
export function chosenValue(
  list: Pick<List, "facets">,
  { facets = {} }: Pick<ListRequest, "facets">,
  name: string,
): Cell | typeof anyValue {
  const chosen = facets[name];
  if (chosen !== undefined) return chosen;
  return list.facets[name]?.default ?? anyValue;
}

const valueIn = ({ asOf }: MirrorReader, { value, presentValue = value }: Facet): string =>
  asOf === null ? presentValue : value;

const same = (a: Cell, b: Cell): boolean => a === b || (a !== null && b !== null && String(a) === String(b));

/** @param without facets whose choice is left out */
function conditionsOf(
  mirror: MirrorReader,
  list: Pick<List, "facets">,
  request: Pick<ListRequest, "facets" | "ids" | "where">,
  without: readonly string[] | null,
): { conditions: string[]; values: Record<string, unknown> } {
  const conditions = [request.where ?? "true"];
  const values: Record<string, unknown> = {};
  if (request.ids) {
    conditions.push("t.id in (select value from json_each(:ids))");
    values.ids = JSON.stringify(request.ids);
  }
  for (const [name, facet] of Object.entries(list.facets)) {
    const chosen = chosenValue(list, request, name);
    const value = valueIn(mirror, facet);
    if (without?.includes(name) || chosen === anyValue) continue;
    conditions.push(chosen === null ? `(${value}) is null` : `cast(${value} as text) = :facet_${name}`);
    if (chosen !== null) values[`facet_${name}`] = String(chosen);
  }
  return { conditions, values };
}
