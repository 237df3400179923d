/**
 * What can be searched of resources: the words of their rows, or, as long as they have none, of the names under which
 * lists give them; for which runs they were those. In: the tables of derived rows. Out: documents.
 */
import type { Connection } from "../file/connection.ts";
import { fromStored } from "../rows/cells.ts";
import { toSearchText } from "./search-words.ts";

/** Kinds that are searched, and the fields of theirs that are. The table of each is named after the kind. */
const searchedFields: Readonly<Record<string, readonly string[]>> = {
  brand: ["name", "slug"],
  model: ["name", "code", "full_name", "slug"],
  bra: ["name", "brand", "model", "note"],
};

const idsAtOnce = 4096;

export const searchedKinds = Object.keys(searchedFields);

/** Words of a resource, from a run up to, but not including, another one. */
export interface SearchDocument {
  readonly resourceId: number;
  readonly kind: string;
  readonly text: string;
  readonly fromRun: number;
  /** Null while it is so. */
  readonly toRun: number | null;
}

/** One row that names a resource, for as long as it was so. */
interface Naming {
  readonly id: number;
  readonly kind: string;
  readonly fromRun: number;
  readonly toRun: number | null;
  readonly isHeld: boolean;
  readonly texts: readonly string[];
}

/** Gives what is searched of a resource of a searched kind now; empty where nothing names it. */
export function prepareSearchText(db: Connection): (resourceId: number, kind: string) => string {
  const held = new Map(
    Object.entries(searchedFields).map(([kind, fields]) => [
      kind,
      db.prepare<[number]>(`select ${fields.join(", ")} from _${kind} where id = ?`).raw(),
    ]),
  );
  const listed = db.prepare<[number]>("select name from _member where item_id = ?").pluck();
  return (resourceId, kind) => {
    const row = held.get(kind)?.get(resourceId) as unknown[] | undefined;
    // Lists have no order among them.
    return toSearchText(row === undefined ? textsOf(listed.all(resourceId)).sort() : textsOf(row));
  };
}

/** Ids, from the first to the last of them. */
export interface IdRange {
  readonly first: number;
  readonly last: number;
}

/** All resources that there are or that have documents, some thousands at a time, so that memory stays small. */
export function* eachIdRange(db: Connection): Generator<IdRange> {
  const end = db
    .prepare<[], number | null>(
      "select max(id) from (select max(id) as id from _resource union all select max(resource_id) from _search)",
    )
    .pluck()
    .get();
  for (let first = 0; first <= (end ?? -1); first += idsAtOnce) yield { first, last: first + idsAtOnce - 1 };
}

/** Every document that these resources should have: in the order of resources, each one's in the order of runs. */
export function readSearchDocuments(db: Connection, range: IdRange): SearchDocument[] {
  const namings = [...readRows(db, range), ...readListings(db, range)];
  return [...Map.groupBy(namings, ({ id }) => id)]
    .sort(([one], [other]) => one - other)
    .flatMap(([, ofOne]) => documentsOf(ofOne));
}

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
        isHeld: true,
        texts: textsOf(cells),
      })),
  );
}

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
      isHeld: false,
      texts: textsOf([name]),
    }));
}

/** The namings of one resource overlap: in each span of runs the row counts, else all names that lists give. */
function documentsOf(namings: readonly Naming[]): SearchDocument[] {
  const ends = namings.flatMap(({ fromRun, toRun }) => [fromRun, ...(toRun === null ? [] : [toRun])]);
  const spans = [...new Set(ends)].sort((one, other) => one - other);
  // Rows mostly change in what is not searched.
  const searchTexts = new Map<string, string>();
  const toText = (texts: readonly string[]): string => {
    const key = JSON.stringify(texts);
    const text = searchTexts.get(key) ?? toSearchText(texts);
    searchTexts.set(key, text);
    return text;
  };
  const documents: SearchDocument[] = [];
  for (const [n, fromRun] of spans.entries()) {
    const present = namings.filter(
      (naming) => naming.fromRun <= fromRun && fromRun < (naming.toRun ?? Number.POSITIVE_INFINITY),
    );
    const [naming] = present;
    if (naming === undefined) continue;
    const row = present.find(({ isHeld }) => isHeld);
    const text = toText(row?.texts ?? present.flatMap(({ texts }) => texts).sort());
    if (text === "") continue;
    const toRun = spans[n + 1] ?? null;
    const last = documents.at(-1);
    if (last?.toRun === fromRun && last.text === text) documents.splice(-1, 1, { ...last, toRun });
    else documents.push({ resourceId: naming.id, kind: naming.kind, text, fromRun, toRun });
  }
  return documents;
}

const textsOf = (cells: readonly unknown[]): string[] =>
  cells.map(fromStored).filter((cell) => typeof cell === "string");
