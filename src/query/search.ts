/**
 * Full-text search of brands, models and bras by their names, codes and brands, including resources that are only listed.
 * A match has, itself or in its brand, a word that begins with each of the words searched for. No text is an error.
 */
import type { Cell } from "../../schema/fields.ts";
import { resourceKey } from "../../schema/views/resource-key.ts";
import type { Connection } from "../mirror/file/connection.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { toPhrase, toWords } from "../mirror/search/search-words.ts";
import { requireWholeNumbers } from "../platform/errors.ts";

export const foundKinds = ["brand", "model", "bra"] as const;
export type FoundKind = (typeof foundKinds)[number];

export interface SearchOptions {
  /** Default: all kinds. */
  readonly kind?: FoundKind;
  /** Includes tombstones, after all others. Default: false. */
  readonly gone?: boolean;
  /** Default: 20. */
  readonly limit?: number;
}

/** A resource that `search` found. */
export interface Found {
  readonly kind: FoundKind;
  /** From its own body, or else from a list. */
  readonly name: Cell;
  /** The model's code; null for others. */
  readonly code: Cell;
  /** The name of its brand. */
  readonly brand: Cell;
  /** How many bras of it users own; null if unknown. */
  readonly bra_count: Cell;
  /** `listed`: named by a list and not fetched yet. */
  readonly state: "held" | "listed" | "gone";
  /** The URL of the resource. */
  readonly href: string;
  /** What `show` takes for it: its slugs, or the id of a bra; its URL without slugs; null while it is only listed. */
  readonly key: Cell;
}

export const foundColumns = [
  "kind",
  "name",
  "code",
  "brand",
  "bra_count",
  "state",
  "key",
  "href",
] as const satisfies (keyof Found)[];

/** Without the columns that bras do not have. */
export const foundColumnsOfAccounts = foundColumns.filter(
  (column) => column !== "code" && column !== "bra_count",
);

/**
 * Finds resources that have all words in their names, or words that begin with them, in any case and with any accents. Exact
 * names come first, then whole words, then beginnings; within these, the models that most users own.
 * @param text words; no character has a special meaning. Without a word, nothing is found
 * @returns at most `limit` results
 * @throws RangeError for a limit that is no whole number
 */
export function search(
  { db, asOf }: Pick<MirrorReader, "db" | "asOf">,
  text: string,
  { kind, gone = false, limit = 20 }: SearchOptions = {},
): Found[] {
  requireWholeNumbers(0, { limit });
  const words = toWords(text);
  // Without ASCII signs, so nothing in them is syntax of the index.
  const phrases = [...new Set(words.map((word) => toPhrase([word])))];
  const matching = (toTerm: (phrase: string) => string) => findWithAll(db, phrases.map(toTerm));
  const wholeWords = new Set(matching((phrase) => `"${phrase}"`));
  const beginnings = matching((phrase) => `"${phrase}" *`).filter((id) => !wholeWords.has(id));
  const parameters = {
    wholeWordIds: JSON.stringify([...wholeWords]),
    beginningIds: JSON.stringify(beginnings),
    exact: `\n ${toPhrase(words)} \n`,
    kind: kind ?? null,
    gone: gone ? 1 : 0,
    limit,
  };
  return db
    .prepare<object, Record<keyof Found, unknown>>(asOf === null ? ranking(isGoneNow) : ranking(isGoneInPast))
    .safeIntegers()
    .all(parameters)
    .map(toFound);
}

function toFound(row: Record<keyof Found, unknown>): Found {
  const cells = foundColumns.map((column) => [column, fromStored(row[column])]);
  return Object.fromEntries(cells) as unknown as Found;
}

/** How many resources `search` finds without a limit. */
export function countFound(
  mirror: Pick<MirrorReader, "db">,
  text: string,
  { kind, gone = false }: SearchOptions = {},
): number {
  const parameters = { ids: JSON.stringify(findIds(mirror, text)), kind: kind ?? null, gone: gone ? 1 : 0 };
  return mirror.db.prepare<object, number>(counting).pluck().get(parameters) ?? 0;
}

/** The ids of all resources that `search` finds, in no order, also of those that are gone. */
export function findIds({ db }: Pick<MirrorReader, "db">, text: string): readonly number[] {
  const phrases = [...new Set(toWords(text).map((word) => toPhrase([word])))];
  return findWithAll(
    db,
    phrases.map((phrase) => `"${phrase}" *`),
  );
}

/** The resources that have all terms, and the models that have some while their brand has the others. */
function findWithAll(db: Connection, terms: readonly string[]): readonly number[] {
  if (terms.length === 0) return [];
  const find = db.prepare<[string], number>(matchingResources).pluck();
  const findModels = db.prepare<[string], number>(modelsOfBrands).pluck();
  const withTerms = (all: readonly string[]) => find.all(`text : (${all.join(" AND ")})`);

  const termsOfBrand = new Map<number, Set<string>>();
  for (const term of terms) {
    for (const id of find.all(`kind : brand AND text : (${term})`))
      termsOfBrand.set(id, (termsOfBrand.get(id) ?? new Set()).add(term));
  }
  const brandsByMissing = Map.groupBy(termsOfBrand.keys(), (id) =>
    JSON.stringify(terms.filter((term) => !termsOfBrand.get(id)?.has(term))),
  );
  const found = new Set(withTerms(terms));
  for (const [missing, brandIds] of brandsByMissing) {
    const missingTerms: string[] = JSON.parse(missing);
    const matches = missingTerms.length === 0 ? null : new Set(withTerms(missingTerms));
    for (const id of findModels.all(JSON.stringify(brandIds))) if (matches?.has(id) ?? true) found.add(id);
  }
  return [...found];
}

// Raw SQL: a full-text index, and joins in a fixed order.

const matchingResources = `
  select d.resource_id from _search_index(?) i cross join _search d on d.id = i.rowid where d.to_run is null`;

/**
 * Held models, and the items of the brands' lists of models. In an as-of view no index finds items by their owner. Once
 * set, an owner never changes, so the present table (`main`) finds them.
 */
const modelsOfBrands = `
  with brand_ids as materialized (select value as id from json_each(?))
  select id from _model where brand_id in brand_ids
  union select r.id from brand_ids
    cross join main._resource owned on owned.owner_id = brand_ids.id and owned.kind = 'models'
    cross join _resource l on l.id = owned.id and l.owner_id = brand_ids.id
    cross join main._resource item on item.owner_id = l.id
    cross join _resource r on r.id = item.id and r.owner_id = l.id`;

const nameOf = (resource: string) => `(select name from known where href = ${resource}.url)`;

/** The documents of the resources that are found. @param ids SQL for their ids as a JSON array */
const foundDocuments = (ids: string) => `
    from json_each(${ids}) f cross join _search d on d.resource_id = f.value and d.to_run is null
    cross join _resource r on r.id = d.resource_id
    where (:kind is null or d.kind = :kind) and (:gone or r.state <> 'gone')`;

const counting = `select count(*) ${foundDocuments(":ids")}`;

/** Few are gone, and an index leads to them. The views of the past have no index. */
const isGoneNow = `f.id in (select id from _resource where kind in ('brand', 'model', 'bra') and state = 'gone')`;
const isGoneInPast = `(select state from _resource where id = f.id) = 'gone'`;

const ranking = (isGone: string) => `
  with found as materialized (
    select value as id, 1 as class from json_each(:wholeWordIds) union all select value, 2 from json_each(:beginningIds)
  ), ranked as materialized (
    select f.id, d.kind, ${isGone} as is_gone, case when instr(d.text, :exact) then 0 else f.class end as class,
      case d.kind when 'model' then (select bra_count from _model where id = f.id)
        when 'brand' then (select bra_count from _brand where id = f.id) end as bra_count
    from found f cross join _search d on d.resource_id = f.id and d.to_run is null
    where (:kind is null or d.kind = :kind) and (:gone or not (${isGone}))
    order by is_gone, class, bra_count desc, f.id limit :limit
  )
  select f.kind, coalesce(brand.name, model.name, bra.name, ${nameOf("r")}) as name, model.code,
    coalesce(bra.brand, brand_of.name, ${nameOf("owner")}) as brand, f.bra_count,
    case when f.is_gone then 'gone' when coalesce(brand.id, model.id, bra.id) is null then 'listed' else 'held' end as state,
    r.url as href, ${resourceKey("r")} as key
  from ranked f join _resource r on r.id = f.id
  left join _brand brand on brand.id = f.id left join _model model on model.id = f.id left join _bra bra on bra.id = f.id
  left join _resource list on list.id = r.owner_id and list.kind = 'models'
  left join _resource owner on owner.id = coalesce(model.brand_id, list.owner_id)
  left join _brand brand_of on brand_of.id = owner.id
  order by f.is_gone, f.class, f.bra_count desc, f.id`;
