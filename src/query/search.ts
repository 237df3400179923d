/**
 * Search: brands, models and a user's bras by the words of their names, codes and brands, also those that are only listed
 * and not fetched yet. In: a mirror, as it is or shown as of a run, and what a person types. Out: what has, itself or in its
 * brand, a word that begins with each of the words typed; what fits best first. Nothing that is typed is an error.
 */
import type { Cell } from "../../schema/fields.ts";
import type { Connection } from "../mirror/file/connection.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { toPhrase, toWords } from "../mirror/search/search-words.ts";
import { plainName, similarNames, slugify } from "../platform/fuzzy-names.ts";

export const foundKinds = ["brand", "model", "bra"] as const;
export type FoundKind = (typeof foundKinds)[number];

export interface SearchOptions {
  /** All kinds unless told. */
  readonly kind?: FoundKind;
  /** Gives what is gone too, after everything else. */
  readonly gone?: boolean;
  /** Default: 20. */
  readonly limit?: number;
}

export interface Found {
  readonly kind: FoundKind;
  /** As it says itself, or as it is listed. */
  readonly name: Cell;
  readonly code: Cell;
  /** The name of its brand. */
  readonly brand: Cell;
  /** Bras that users have of it; null where nothing says so. */
  readonly bra_count: Cell;
  /** `listed`: a list names it, and it was not fetched yet. */
  readonly state: "held" | "listed" | "gone";
  readonly href: string;
}

export const foundColumns = [
  "kind",
  "name",
  "code",
  "brand",
  "bra_count",
  "state",
  "href",
] as const satisfies (keyof Found)[];

/** Bras have no codes, and nobody else has them. */
export const foundColumnsOfAccounts = foundColumns.filter(
  (column) => column !== "code" && column !== "bra_count",
);

const withWords = `
  select d.resource_id from _search_index(?) i cross join _search d on d.id = i.rowid where d.to_run is null`;

/**
 * What is not held yet belongs to the list of a brand. Shown as of a run, an owner is worked out row by row and no index
 * finds it; but what belongs to something has never belonged to anything else, so that today's owners find it.
 */
const modelsOfBrands = `
  with wanted as materialized (select value as id from json_each(?))
  select id from _model where brand_id in wanted
  union select r.id from wanted
    cross join main._resource owned on owned.owner_id = wanted.id and owned.kind = 'models'
    cross join _resource l on l.id = owned.id and l.owner_id = wanted.id
    cross join main._resource item on item.owner_id = l.id
    cross join _resource r on r.id = item.id and r.owner_id = l.id`;

const nameOf = (resource: string) => `(select name from known where href = ${resource}.url)`;

const ranking = `
  with ranked as materialized (
    select r.id, d.kind, r.state = 'gone' as is_gone,
      case when instr(d.text, :exact) then 0 when r.id in (select value from json_each(:whole)) then 1 else 2 end as class,
      case d.kind when 'model' then (select bra_count from _model where id = r.id)
        when 'brand' then (select bra_count from _brand where id = r.id) end as bra_count
    from json_each(:begun) f cross join _search d on d.resource_id = f.value and d.to_run is null
    cross join _resource r on r.id = d.resource_id
    where (:kind is null or d.kind = :kind) and (:gone or r.state <> 'gone')
    order by is_gone, class, bra_count desc, r.id limit :limit
  )
  select f.kind, coalesce(brand.name, model.name, bra.name, ${nameOf("r")}) as name, model.code,
    coalesce(bra.brand, brand_of.name, ${nameOf("owner")}) as brand, f.bra_count,
    case when f.is_gone then 'gone' when coalesce(brand.id, model.id, bra.id) is null then 'listed' else 'held' end as state,
    r.url as href
  from ranked f join _resource r on r.id = f.id
  left join _brand brand on brand.id = f.id left join _model model on model.id = f.id left join _bra bra on bra.id = f.id
  left join _resource list on list.id = r.owner_id and list.kind = 'models'
  left join _resource owner on owner.id = coalesce(model.brand_id, list.owner_id)
  left join _brand brand_of on brand_of.id = owner.id
  order by f.is_gone, f.class, f.bra_count desc, f.id`;

/** @throws MirrorError `older` when the mirror has no index yet */
export function search(
  { db }: Pick<MirrorReader, "db">,
  text: string,
  { kind, gone = false, limit = 20 }: SearchOptions = {},
): Found[] {
  const words = toWords(text);
  const phrases = [...new Set(words.map((word) => toPhrase([word])))];
  const parameters = {
    // A word is made of letters, digits and signs beyond ASCII: of nothing that the index takes for its own syntax.
    begun: JSON.stringify(
      findAll(
        db,
        phrases.map((phrase) => `"${phrase}" *`),
      ),
    ),
    whole: JSON.stringify(
      findAll(
        db,
        phrases.map((phrase) => `"${phrase}"`),
      ),
    ),
    exact: `\n ${toPhrase(words)} \n`,
    kind: kind ?? null,
    gone: gone ? 1 : 0,
    limit,
  };
  return db
    .prepare<object, Record<keyof Found, unknown>>(ranking)
    .safeIntegers()
    .all(parameters)
    .map(
      (row) =>
        Object.fromEntries(
          foundColumns.map((column) => [column, fromStored(row[column])]),
        ) as unknown as Found,
    );
}

/** The resources that have each of the words, and models that have some where their brand has the others. */
function findAll(db: Connection, words: readonly string[]): readonly number[] {
  if (words.length === 0) return [];
  const find = db.prepare<[string], number>(withWords).pluck();
  const having = (wanted: readonly string[]) => find.all(`text : (${wanted.join(" AND ")})`);
  const wordsOfBrand = new Map<number, Set<string>>();
  for (const word of words) {
    for (const id of find.all(`kind : brand AND text : (${word})`))
      wordsOfBrand.set(id, (wordsOfBrand.get(id) ?? new Set()).add(word));
  }
  const brandsByMissing = Map.groupBy(wordsOfBrand.keys(), (id) =>
    JSON.stringify(words.filter((word) => !wordsOfBrand.get(id)?.has(word))),
  );
  const findModels = db.prepare<[string], number>(modelsOfBrands).pluck();
  const found = new Set(having(words));
  for (const [missing, brandIds] of brandsByMissing) {
    const models = findModels.all(JSON.stringify(brandIds));
    const missingWords: string[] = JSON.parse(missing);
    const isWanted = missingWords.length === 0 ? null : new Set(having(missingWords));
    for (const id of models) if (isWanted?.has(id) ?? true) found.add(id);
  }
  return [...found];
}

/** What to say where a search finds nothing: what is gone and would fit, and what was perhaps meant. */

export interface SearchSuggestion {
  /** How many that are gone have all of the words. */
  readonly gone: number;
  /** What finds something instead, the likeliest first; at most three. */
  readonly alike: readonly string[];
}

/** @throws MirrorError `older`, as `search` does */
export function suggestSearch(
  mirror: Pick<MirrorReader, "db">,
  text: string,
  { kind }: Pick<SearchOptions, "kind"> = {},
): SearchSuggestion {
  const ofKind = kind === undefined ? {} : { kind };
  const finds = (words: string) => search(mirror, words, { ...ofKind, limit: 1 }).length > 0;
  const gone = search(mirror, text, { ...ofKind, gone: true, limit: Number.MAX_SAFE_INTEGER }).length;
  // Of what differs in nothing but accents and case, the brand's own name.
  const names = new Map(
    [...respell(mirror, text, finds), ...brandNames(mirror)].map((name) => [slugify(plainName(name)), name]),
  );
  return { gone, alike: similarNames(text, names.values(), 6).filter(finds).slice(0, 3) };
}

/** The text with words that there are in place of those that there are not. */
function respell(
  mirror: Pick<MirrorReader, "db">,
  text: string,
  finds: (words: string) => boolean,
): string[] {
  const words = toWords(text).map((word) => toPhrase([word]));
  if (words.every(finds)) return [];
  const known = knownWords(mirror);
  const choices = words.map((word) => (finds(word) ? [word] : similarNames(word, known, 3)));
  const tries = [0, 1, 2].map((n) => choices.map((words) => words[Math.min(n, words.length - 1)] ?? ""));
  const respelt = tries.filter((words) => !words.includes("")).map((words) => words.join(" "));
  return [...new Set(respelt)].filter(finds);
}

/** Also those of what is gone and of the past: who suggests one tries it first. */
function knownWords({ db }: Pick<MirrorReader, "db">): string[] {
  db.exec("create virtual table if not exists temp._word using fts5vocab (main, _search_index, col)");
  return db.prepare<[], string>("select term from temp._word where col = 'text'").pluck().all();
}

function brandNames({ db }: Pick<MirrorReader, "db">): string[] {
  return db
    .prepare<[], string>("select name from known where kind = 'brand' and name is not null")
    .pluck()
    .all();
}
