/** Counts of brands, models and sizes in the mirror, for ranking and for forecasts. */
import { type SqlBool, sql } from "kysely";
import { limits } from "../../../../schema/input/limits.ts";
import type { Connection } from "../../../mirror/file/connection.ts";
import { prepare, prepareColumn } from "../../../mirror/file/statements.ts";
import { q } from "../../../mirror/queries/query-builder.ts";
import { readCoverage } from "../../../mirror/runs/coverage.ts";
import {
  inScope,
  isFetchable,
  type Scope,
  type ScopeParameters,
  scopeParameters,
} from "../../../mirror/scope.ts";

export interface CatalogueFacts {
  /** In the order of the service's list: by number of bras, largest first, until their counts are known. */
  readonly brands: readonly BrandFacts[];
  readonly dueBrandPages: number;
}

export interface BrandFacts {
  readonly id: number;
  readonly isHeld: boolean;
  /** Its `bra_count`; null before the brand is held, or if the service does not report it. */
  readonly bras: number | null;
  /** Its list of models; null before the brand is held. */
  readonly listing: ListingFacts | null;
}

export interface ListingFacts {
  readonly id: number;
  /** Whether its first page is held. */
  readonly isRead: boolean;
  /** Known pages that were never fetched. */
  readonly duePages: number;
  /** The number of models that the service reports; null if it does not. */
  readonly total: number | null;
  readonly knownModels: number;
  readonly heldModels: number;
  readonly dueModels: number;
  /** Bras of the held models. */
  readonly brasOfHeld: number;
}

export interface ForecastFacts extends CatalogueFacts {
  /** The number of brands that the service reports; null if it does not. */
  readonly brandTotal: number | null;
  /** Resources by kind. */
  readonly counts: ReadonlyMap<string, { readonly known: number; readonly held: number }>;
  /** Lists of sizes that were read, and the sizes in them. */
  readonly readSizeListings: number;
  readonly sizesListed: number;
}

/** @returns a function that reads the current facts */
export function prepareCatalogueFacts(db: Connection, scope: Scope): () => CatalogueFacts {
  const selectBrands = prepare(db, (p: ScopeParameters) =>
    q
      .selectFrom("_resource as r")
      .leftJoin("_brand as b", "b.id", "r.id")
      .select(["r.id", isHeld("r").as("isHeld")])
      .select(sql<number | null>`cast(b.bra_count as real)`.as("bras"))
      .where("r.kind", "=", "brand")
      .where("r.state", "in", ["due", "held"])
      .where(inScope(p, "r"))
      .orderBy("r.id"),
  );
  const selectListings = prepareListings(db);
  const countBrandPages = prepareColumn(db, (p: ScopeParameters) =>
    q
      .selectFrom("_resource as r")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("r.kind", "=", "brands")
      .where("r.state", "=", "due")
      .where(inScope(p, "r")),
  );
  const parameters = scopeParameters(scope);

  return () => {
    const listings = new Map(
      selectListings.all().map(({ brandId, isRead, ...row }) => [brandId, { ...row, isRead: isRead === 1 }]),
    );
    const brands = selectBrands.all(parameters).map((row): BrandFacts => {
      return { id: row.id, isHeld: row.isHeld === 1, bras: row.bras, listing: listings.get(row.id) ?? null };
    });
    return { brands, dueBrandPages: countBrandPages.get(parameters) ?? 0 };
  };
}

const plausible = (column: string) =>
  sql<number | null>`min(${sql.ref(column)}, ${sql.lit(limits.plausibleTotal)})`;

const isHeld = (alias: string) => sql<0 | 1>`${sql.ref(`${alias}.state`)} = 'held'`;

/** By list of models. */
const countDuePages = () =>
  q
    .selectFrom("_resource as r")
    .innerJoin("_page as page", "page.id", "r.id")
    .select((eb) => ["page.collection_id as id", eb.fn.countAll<number>().as("due")])
    .where("r.kind", "=", "models")
    .where("r.state", "=", "due")
    .where(isFetchable("r"))
    .whereRef("page.collection_id", "<>", "page.id")
    .groupBy("page.collection_id");

/** By list. */
const countModels = () =>
  q
    .selectFrom("_resource as r")
    .leftJoin("_model as m", "m.id", "r.id")
    .select((eb) => [
      "r.owner_id as id",
      eb.fn.countAll<number>().as("known"),
      sql<number>`sum(r.state = 'held')`.as("held"),
      sql<number>`sum(r.state = 'due')`.as("due"),
      sql<number>`total(m.bra_count)`.as("bras"),
    ])
    .where("r.kind", "=", "model")
    .where("r.state", "in", ["due", "held", "failed"])
    .where(isFetchable("r"))
    .groupBy("r.owner_id");

/** The first pages of the lists of models. A brand owns all pages of its list; `_page` names the first one of each. */
function prepareListings(db: Connection) {
  return prepare(db, () =>
    q
      .selectFrom("_resource as c")
      .leftJoin("_page as p", "p.id", "c.id")
      .leftJoin(countDuePages().as("pages"), "pages.id", "c.id")
      .leftJoin(countModels().as("models"), "models.id", "c.id")
      .select(["c.id", "c.owner_id as brandId", isHeld("c").as("isRead"), plausible("p.total").as("total")])
      .select([
        sql<number>`(c.state = 'due') + coalesce(pages.due, 0)`.as("duePages"),
        sql<number>`coalesce(models.known, 0)`.as("knownModels"),
        sql<number>`coalesce(models.held, 0)`.as("heldModels"),
        sql<number>`coalesce(models.due, 0)`.as("dueModels"),
        sql<number>`coalesce(models.bras, 0)`.as("brasOfHeld"),
      ])
      .where("c.kind", "=", "models")
      .where("c.state", "in", ["due", "held"])
      .where(sql<SqlBool>`(p.id is null or p.collection_id = p.id)`),
  );
}

/** @returns null until the list of brands is read: before, the size of the catalogue is unknown */
export function readForecastFacts(db: Connection): ForecastFacts | null {
  const counts = readCounts(db);
  if (!counts.get("brands")?.held) return null;
  const selectBrandTotal = prepareColumn(db, () =>
    q
      .selectFrom("_page as p")
      .innerJoin("_resource as r", "r.id", "p.id")
      .select(sql<number | null>`max(${plausible("p.total")})`.as("total"))
      .where("r.kind", "=", "brands")
      .where("r.state", "=", "held"),
  );
  const countSizeListings = prepareColumn(db, () =>
    q
      .selectFrom("_resource as r")
      .innerJoin("_page as p", (join) =>
        join.onRef("p.id", "=", "r.id").onRef("p.collection_id", "=", "p.id"),
      )
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("r.kind", "=", "sizes")
      .where("r.state", "=", "held"),
  );
  return {
    ...prepareCatalogueFacts(db, { kinds: [], belowIds: null })(),
    brandTotal: selectBrandTotal.get() ?? null,
    counts,
    readSizeListings: countSizeListings.get() ?? 0,
    sizesListed: counts.get("size")?.known ?? 0,
  };
}

/** As the last run has stored them, or counted while a run is open. */
function readCounts(db: Connection): ForecastFacts["counts"] {
  const { kinds } = readCoverage({ db, asOf: null });
  return new Map(kinds.map(({ kind, held, due, failed }) => [kind, { known: held + due + failed, held }]));
}
