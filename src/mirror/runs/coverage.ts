/**
 * How whole and how fresh a mirror is. Each run stores it when it closes; exports, queries, `status` and backups read it
 * here, so `complete` means one thing: everything known is held, every list is consistent and linked, and no deletion
 * awaits approval.
 */
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q, textsIn } from "../queries/query-builder.ts";
import type { MirrorReader } from "../reader.ts";
import { isCoverage, parseStored } from "../rows/stored-values.ts";
import {
  countCoverage,
  countDetails,
  type KindCoverage,
  type KindDetails,
  noDetails,
  nothingKnown,
  type Observed,
  observeChanges,
} from "./count-kinds.ts";

/** Whether everything that is known is held, and the counts by kind. */
export interface Coverage {
  /** Whether anything is held, nothing known is missing, and no list or deletion is in doubt. */
  readonly complete: boolean;
  /** One for each known kind, in the order in which they were found. */
  readonly kinds: readonly KindCoverage[];
}

type Gaps = Pick<KindCoverage, "due" | "failed"> &
  Partial<Pick<KindCoverage, "partial" | "missingLinks" | "awaitingApproval">>;

/** Whether nothing of these kinds is missing or in doubt. */
export const isComplete = (kinds: readonly Gaps[]): boolean =>
  kinds.every(
    ({ due, failed, partial = 0, missingLinks = 0, awaitingApproval = 0 }) =>
      due + failed + partial + missingLinks + awaitingApproval === 0,
  );

export const coverageOf = (kinds: readonly KindCoverage[]): Coverage => ({
  complete: kinds.some(({ held }) => held > 0) && isComplete(kinds),
  kinds,
});

const brandKinds = ["root", "brands", "brand"];
const modelKinds = [...brandKinds, "models", "model"];
const sizeKinds = [...modelKinds, "sizes", "size"];
const braKinds = ["root", "me", "bras", "bra"];
const measurementKinds = ["root", "me", "measurements", "measurement"];
const relations: readonly string[] = [
  "related_brands",
  "related_models",
  "same_cut_models",
  "adjacent_sizes",
];

/** The kinds that the rows of each table come from, and the lists that lead to them. */
const kindsOfTable: Readonly<Record<string, readonly string[]>> = {
  brand: brandKinds,
  model: modelKinds,
  model_picture: modelKinds,
  size: sizeKinds,
  relation: relations,
  user: ["root", "me"],
  bra: braKinds,
  bra_size: braKinds,
  media: braKinds,
  measurement: measurementKinds,
  measurement_value: measurementKinds,
};

/** The public tables that are made of these stored ones, such as `_brand` and `_brand_past`. */
export function publicTablesFrom(stored: readonly string[]): string[] {
  const names = new Set(stored.map((name) => name.replace(/^_/, "").replace(/_past$/, "")));
  // Only the view of relations reads both.
  if (names.has("link") && names.has("member")) names.add("relation");
  return Object.keys(kindsOfTable).filter((table) => names.has(table));
}

/**
 * Reads how whole a mirror is, at present or at the point that it was opened as of.
 * @param tables only the kinds that these public tables are made of; default: all kinds
 */
export function readCoverage(
  mirror: Pick<MirrorReader, "db" | "asOf">,
  tables?: readonly string[],
): Coverage {
  const all = coverageOf(
    readStored(mirror)?.map(({ details: _, ...kind }) => kind) ?? countCoverage(mirror.db),
  );
  return tables === undefined ? all : coverageOfTables(all, tables);
}

/**
 * Counts how whole these brands and everything below them are at present.
 * @param tables as for `readCoverage`
 */
export function readCoverageOfBrands(
  { db }: Pick<MirrorReader, "db">,
  brandHrefs: readonly string[],
  tables?: readonly string[],
): Coverage {
  // A model that has moved to another brand stays below the list that it was first found in.
  const idsOf = prepareColumn(db, (p: { urls: string }) =>
    q
      .with("b", (cte) => cte.selectFrom("_resource").select("id").where("url", "in", textsIn(p.urls)))
      .selectFrom("b")
      .select("id")
      .union((or) => or.selectFrom("_model as m").innerJoin("b", "b.id", "m.brand_id").select("m.id")),
  );
  const counted = countCoverage(db, idsOf.all({ urls: JSON.stringify(brandHrefs) }));
  const kinds = tables === undefined ? counted : kindsOfTables(counted, tables);
  // Of a brand that is gone, nothing is held and nothing is missing; of relations that no sync has followed, nothing is known.
  return { complete: kinds.length > 0 && isComplete(kinds), kinds };
}

/** Only the kinds that these public tables are made of. */
export const coverageOfTables = ({ kinds }: Coverage, tables: readonly string[]): Coverage =>
  coverageOf(kindsOfTables(kinds, tables));

function kindsOfTables(kinds: readonly KindCoverage[], tables: readonly string[]): readonly KindCoverage[] {
  const wanted = new Set(tables.flatMap((table) => kindsOfTable[table] ?? []));
  return kinds.filter(({ kind }) => wanted.has(kind));
}

/** The coverage of one kind, and what `status` shows besides. */
export type DetailedKind = KindCoverage & KindDetails;

/** The same with details. Counted while a run is open, or if an earlier version stored the last one without them. */
export function readDetailedKinds(mirror: Pick<MirrorReader, "db" | "asOf">): readonly DetailedKind[] {
  const stored = readStored(mirror);
  const kinds = stored?.every(({ details }) => details !== undefined) ? stored : countDetailed(mirror.db);
  return kinds.map(({ details = noDetails, ...coverage }) => ({ ...coverage, ...details }));
}

/** What was observed of the changes of resources, by kind: as stored, or counted where `readDetailedKinds` counts. */
export function readObserved(db: Connection): ReadonlyMap<string, Observed> {
  const stored = readStored({ db, asOf: null }) ?? [];
  const observed = stored.flatMap(({ kind, details }) =>
    details?.observed === undefined ? [] : [[kind, details.observed] as const],
  );
  return observed.length > 0 && observed.length === stored.length ? new Map(observed) : observeChanges(db);
}

/** As a run stores it. Mirrors of earlier versions have no details. */
type StoredKind = KindCoverage & { readonly details?: KindDetails };

/** What a run stores. @returns JSON */
export const coverageText = (db: Connection): string => JSON.stringify(countDetailed(db));

function countDetailed(db: Connection): StoredKind[] {
  const details = countDetails(db);
  return countCoverage(db).map((kind) => ({ ...kind, details: details.get(kind.kind) ?? noDetails }));
}

/** Stores the coverage of the last run again, after its rows were derived anew. */
export function storeCoverageAgain(db: Connection): void {
  prepare(db, (p: { coverage: string }) =>
    q
      .updateTable("_run")
      .set({ coverage_json: p.coverage })
      .where("coverage_json", "is not", null)
      .where("id", "=", (eb) => eb.selectFrom("_run").select(({ fn }) => fn.max("id").as("id"))),
  ).run({ coverage: coverageText(db) });
}

/** What the last run has stored; null while a run is open. */
export function readStored({ db, asOf }: Pick<MirrorReader, "db" | "asOf">): readonly StoredKind[] | null {
  const select = prepare(db, (p: { last: number }) =>
    q
      .selectFrom("_run")
      .select(["id", "coverage_json as text"])
      .where("id", "<=", p.last)
      .orderBy("id", "desc")
      .limit(1),
  );
  const last = select.get({ last: asOf?.run ?? Number.MAX_SAFE_INTEGER });
  if (!last?.text) return null;
  if (parsed.get(db)?.text !== last.text)
    parsed.set(db, { text: last.text, kinds: parseKinds(last.text, `_run ${last.id}`) });
  return parsed.get(db)?.kinds ?? null;
}

/** Earlier versions did not store all of it. */
function parseKinds(text: string, where: string): StoredKind[] {
  const kinds: (StoredKind & { readonly missingLinks?: number })[] = parseStored(text, isCoverage, where);
  return kinds.map((kind) => ({ ...kind, missingLinks: kind.missingLinks ?? 0 }));
}

/** A command reads it several times. */
const parsed = new WeakMap<Connection, { readonly text: string; readonly kinds: readonly StoredKind[] }>();

/** Kinds of lists, without those of relations. */
export const listKinds = new Set(["brands", "models", "sizes", "bras", "measurements"]);

/** Kinds of lists of relations. */
export const relationKinds: ReadonlySet<string> = new Set(relations);

/** Rows of zeros for kinds of which nothing is known, because lists of them are known and none is fetched. */
export const unknownKinds = (kinds: readonly KindCoverage[]): KindCoverage[] =>
  kinds
    .filter(({ kind, due, failed }) => listKinds.has(kind) && due + failed > 0)
    .map((list) => list.kind.slice(0, -1))
    .filter((kind) => !kinds.some((other) => other.kind === kind))
    .map((kind) => ({ kind, ...nothingKnown, partial: 0, missingLinks: 0 }));
