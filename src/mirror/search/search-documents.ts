/**
 * The search documents of resources. In: typed rows and listings. Out: for each resource and range of runs, the words of its
 * row, or, while it has no row, of the names in the listings.
 */
import type { Connection } from "../file/connection.ts";
import { prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { fromStored } from "../rows/cells.ts";
import { toSearchText } from "./search-words.ts";

/** The searched kinds, and the searched fields of each. A kind's table has the name of the kind. */
const searchedFields: Readonly<Record<string, readonly string[]>> = {
  brand: ["name", "slug"],
  model: ["name", "code", "full_name", "slug"],
  bra: ["name", "brand", "model", "note"],
};

export const searchedKinds = Object.keys(searchedFields);

/** The words of a resource, from a run up to, but not including, another one. */
export interface SearchDocument {
  readonly resourceId: number;
  readonly kind: string;
  readonly text: string;
  readonly fromRun: number;
  /** Null for the current document. */
  readonly toRun: number | null;
}

/** Returns the current search text of a resource of a searched kind; empty if it has no name. */
export function prepareSearchText(db: Connection): (resourceId: number, kind: string) => string {
  // Raw SQL: tables and columns by name.
  const selectRow = new Map(
    Object.entries(searchedFields).map(([kind, fields]) => [
      kind,
      db.prepare<[number]>(`select ${fields.join(", ")} from _${kind} where id = ?`).raw(),
    ]),
  );
  const selectNames = prepareColumn(db, (p: { id: number }) =>
    q.selectFrom("_member").select("name").where("item_id", "=", p.id),
  );
  return (id, kind) => {
    const row = selectRow.get(kind)?.get(id) as unknown[] | undefined;
    // Sorted, since listings have no order among them.
    return toSearchText(row === undefined ? textsOf(selectNames.all({ id })).sort() : textsOf(row));
  };
}

/** A range of ids, both ends included. */
export interface IdRange {
  readonly first: number;
  readonly last: number;
}

const rangeSize = 4096;

/** Ranges that contain all resources, and all ids with documents. They are small, to bound the memory. */
export function* eachIdRange(db: Connection): Generator<IdRange> {
  const resources = prepareColumn(db, () =>
    q.selectFrom("_resource").select(({ fn }) => fn.max<number | null>("id").as("id")),
  ).get();
  const documents = prepareColumn(db, () =>
    q.selectFrom("_search").select(({ fn }) => fn.max<number | null>("resource_id").as("id")),
  ).get();
  const end = Math.max(resources ?? -1, documents ?? -1);
  for (let first = 0; first <= end; first += rangeSize) yield { first, last: first + rangeSize - 1 };
}

/** The complete documents of these resources, ordered by resource and run. */
export function readSearchDocuments(db: Connection, range: IdRange): SearchDocument[] {
  const namings = [...readRows(db, range), ...readListings(db, range)];
  return [...Map.groupBy(namings, ({ id }) => id)]
    .sort(([a], [b]) => a - b)
    .flatMap(([, ofResource]) => documentsOf(ofResource));
}

/** The names that one row or one listing gives a resource, over a range of runs. */
interface Naming {
  readonly id: number;
  readonly kind: string;
  readonly fromRun: number;
  readonly toRun: number | null;
  readonly isOwnRow: boolean;
  readonly texts: readonly string[];
}

/** Raw SQL: tables and columns by name. */
function readRows(db: Connection, range: IdRange): Naming[] {
  return Object.entries(searchedFields).flatMap(([kind, fields]) =>
    db
      .prepare<[IdRange], [number, number, number | null, ...unknown[]]>(
        `select id, from_run, null, ${fields.join(", ")} from _${kind} where id between :first and :last
         union all
         select id, from_run, to_run, ${fields.join(", ")} from _${kind}_past where id between :first and :last`,
      )
      .raw()
      .all(range)
      .map(([id, fromRun, toRun, ...cells]) => ({
        id,
        kind,
        fromRun,
        toRun,
        isOwnRow: true,
        texts: textsOf(cells),
      })),
  );
}

/** Raw SQL: the same query for two tables. */
function readListings(db: Connection, range: IdRange): Naming[] {
  const select = (table: string, toRun: string) =>
    `select r.id, r.kind, m.from_run, ${toRun}, m.name from ${table} m join _resource r on r.id = m.item_id
     where m.item_id between :first and :last and r.kind in (select value from json_each(:kinds))`;
  return db
    .prepare<[IdRange & { kinds: string }], [number, string, number, number | null, unknown]>(
      `${select("_member", "null")} union all ${select("_member_past", "m.to_run")}`,
    )
    .raw()
    .all({ ...range, kinds: JSON.stringify(searchedKinds) })
    .map(([id, kind, fromRun, toRun, name]) => ({
      id,
      kind,
      fromRun,
      toRun,
      isOwnRow: false,
      texts: textsOf([name]),
    }));
}

/** Namings of one resource overlap. In each range of runs its own row counts, or else the names of all listings. */
function documentsOf(namings: readonly Naming[]): SearchDocument[] {
  const boundaries = namings.flatMap(({ fromRun, toRun }) => [fromRun, ...(toRun === null ? [] : [toRun])]);
  const starts = [...new Set(boundaries)].sort((a, b) => a - b);
  // Cached: most changes of a row are in fields that are not searched.
  const searchTexts = new Map<string, string>();
  const toText = (texts: readonly string[]): string => {
    const key = JSON.stringify(texts);
    const text = searchTexts.get(key) ?? toSearchText(texts);
    searchTexts.set(key, text);
    return text;
  };
  const documents: SearchDocument[] = [];
  for (const [n, fromRun] of starts.entries()) {
    const valid = namings.filter(
      (naming) => naming.fromRun <= fromRun && fromRun < (naming.toRun ?? Number.POSITIVE_INFINITY),
    );
    const [naming] = valid;
    if (naming === undefined) continue;
    const row = valid.find(({ isOwnRow }) => isOwnRow);
    const text = toText(row?.texts ?? valid.flatMap(({ texts }) => texts).sort());
    if (text === "") continue;
    const toRun = starts[n + 1] ?? null;
    const last = documents.at(-1);
    if (last?.toRun === fromRun && last.text === text) documents.splice(-1, 1, { ...last, toRun });
    else documents.push({ resourceId: naming.id, kind: naming.kind, text, fromRun, toRun });
  }
  return documents;
}

const textsOf = (cells: readonly unknown[]): string[] =>
  cells.map(fromStored).filter((cell) => typeof cell === "string");
