/**
 * How whole and how fresh a mirror is. Each run stores it when it closes; exports, queries, `status` and backups read it
 * here, so `complete` means one thing: everything known is held, every list is consistent and linked, and no deletion
 * awaits approval.
 */
import { sql } from "kysely";
import { readEmptiedLists } from "../absence/emptied-lists.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { isoTime, q, textsIn } from "../queries/query-builder.ts";
import type { MirrorReader } from "../reader.ts";
import { isCoverage, parseStored } from "../rows/stored-values.ts";
import { isBelow, type ScopeParameters, scopeParameters } from "../scope.ts";
import { type Confirmation, readConfirmations } from "../snapshots/loaded.ts";
import {
  countDetails,
  isCounted,
  type KindDetails,
  noDetails,
  type Observed,
  observeChanges,
} from "./kind-details.ts";
import { readMissingLinks } from "./missing-links.ts";

/** Counts of resources of one kind: `known` is the sum of `held`, `due`, `failed` and `gone`. */
export interface KindCoverage {
  readonly kind: string;
  readonly known: number;
  /** Fetched, and not gone. */
  readonly held: number;
  /** Never fetched; also if the service asked to request it later. */
  readonly due: number;
  /** Never fetched, and the last attempt failed. */
  readonly failed: number;
  /** Tombstones. */
  readonly gone: number;
  /** Lists of this kind whose pages are inconsistent. */
  readonly partial: number;
  /** Resources without a usable link to one of this kind, which the specification requires. */
  readonly missingLinks: number;
  /** Absent resources that are kept until `sync --approve`. */
  readonly awaitingApproval: number;
  /** Times of the first and the last check of held resources, ISO 8601, UTC; null if none is held. */
  readonly oldestCheckAt: string | null;
  /** As `oldestCheckAt`, of the last check. */
  readonly newestCheckAt: string | null;
  /** Of the held resources; absent in a mirror without snapshots, where the service has sent all of them itself. */
  readonly confirmed?: Confirmation | undefined;
}

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
  const idsOf = prepareColumn(db, (p: { urls: string }) =>
    q.selectFrom("_resource").select("id").where("url", "in", textsIn(p.urls)),
  );
  const all = coverageOf(countCoverage(db, idsOf.all({ urls: JSON.stringify(brandHrefs) })));
  const { kinds } = tables === undefined ? all : coverageOfTables(all, tables);
  // Of a brand that is gone, nothing is held and nothing is missing.
  return { complete: isComplete(kinds), kinds };
}

/** Only the kinds that these public tables are made of. */
export function coverageOfTables({ kinds }: Coverage, tables: readonly string[]): Coverage {
  const wanted = new Set(tables.flatMap((table) => kindsOfTable[table] ?? []));
  return coverageOf(kinds.filter(({ kind }) => wanted.has(kind)));
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

/** A postponed resource has not failed: it is due at a given time. */
const isDue = () => sql<boolean>`(state = 'due' or (state = 'failed' and retry_at is not null))`;
const isFailed = () => sql<boolean>`(state = 'failed' and retry_at is null)`;

const countOf = (condition: ReturnType<typeof sql<boolean>>) => sql<number>`total(${condition})`;
const checkAt = (extreme: "min" | "max") =>
  isoTime<string | null>(`${extreme}(checked_at) filter (where state = 'held')`);

/** @param belowIds only of these resources and those below them; null for all */
function countCoverage(db: Connection, belowIds: readonly number[] | null = null): readonly KindCoverage[] {
  const scope = { kinds: sizeKinds, belowIds };
  const parameters = scopeParameters(scope);
  const known = prepare(db, (p: ScopeParameters) =>
    q
      .selectFrom("_resource")
      .select(["kind", (eb) => eb.fn.countAll<number>().as("known")])
      .select([
        countOf(sql`state = 'held'`).as("held"),
        countOf(isDue()).as("due"),
        countOf(isFailed()).as("failed"),
        countOf(sql`state = 'gone'`).as("gone"),
        countOf(sql`absent_by in ('response', 'listing')`).as("awaitingApproval"),
      ])
      .select([checkAt("min").as("oldestCheckAt"), checkAt("max").as("newestCheckAt")])
      .where(isCounted())
      .where(isBelow(p, "id"))
      .groupBy("kind")
      .orderBy((eb) => eb.fn.min("id")),
  ).all(parameters);
  const partial = new Map(selectPartial(db, parameters).map(({ kind, count }) => [kind, count]));
  const missing = Map.groupBy(readMissingLinks(db, belowIds && scope), ({ kind }) => kind);
  const emptied = readEmptiedLists(db, parameters);
  const confirmations = readConfirmations(db, parameters);
  const unknown = [...missing.keys()]
    .filter((kind) => !known.some((row) => row.kind === kind))
    .map((kind) => ({ kind, ...nothingKnown }));
  return [...known, ...unknown].map(({ awaitingApproval, oldestCheckAt, newestCheckAt, ...counts }) => ({
    ...counts,
    partial: partial.get(counts.kind) ?? 0,
    missingLinks: missing.get(counts.kind)?.length ?? 0,
    awaitingApproval:
      awaitingApproval +
      emptied.filter(({ kind }) => kind === counts.kind).reduce((sum, { absent }) => sum + absent, 0),
    oldestCheckAt,
    newestCheckAt,
    ...confirmedOf(confirmations, counts.kind),
  }));
}

const nothingKnown = {
  ...{ known: 0, held: 0, due: 0, failed: 0, gone: 0, awaitingApproval: 0 },
  ...{ oldestCheckAt: null, newestCheckAt: null },
};

/** Nothing without snapshots. */
const confirmedOf = (
  confirmations: ReturnType<typeof readConfirmations>,
  kind: string,
): Pick<KindCoverage, "confirmed"> =>
  confirmations === null
    ? {}
    : { confirmed: confirmations.get(kind) ?? { bytes: 0, validator: 0, unconfirmed: 0 } };

function selectPartial(db: Connection, scope: ScopeParameters): { kind: string; count: number }[] {
  return prepare(db, (p: ScopeParameters) =>
    q
      .selectFrom("_pass as p")
      .innerJoin("_resource as r", "r.id", "p.collection_id")
      .select(["r.kind", (eb) => eb.fn.countAll<number>().as("count")])
      .where("p.status", "=", "partial")
      .where(isBelow(p, "r.id"))
      .groupBy("r.kind"),
  ).all(scope);
}

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
