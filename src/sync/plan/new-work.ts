/**
 * Resources that were never fetched, in the order of their requests. In: the mirror. Out: due resources. It does not know
 * checks or allowances.
 */
import { type SqlBool, sql } from "kysely";
import type { ResourceState } from "../../../schema/tables.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { prepare, prepareColumn } from "../../mirror/file/statements.ts";
import { idsIn, q } from "../../mirror/queries/query-builder.ts";
import {
  type DueResource,
  dueColumns,
  firstOf,
  inScope,
  isFetchable,
  type Scope,
  type ScopeParameters,
  scopeParameters,
} from "../../mirror/scope.ts";
import { type CatalogueFacts, prepareCatalogueFacts } from "./queries/catalogue-facts.ts";
import { rankBrands, type Step } from "./rank-brands.ts";
import type { Order, PlannedResource } from "./request.ts";

/** Returns at most `limit` due resources for which `isTaken` is false. */
export type NewWork = (limit: number, isTaken: (id: number) => boolean) => DueResource[];

/** @param readFacts for the order by value */
export function prepareNewWork(
  db: Connection,
  scope: Scope,
  order: Order,
  readFacts: () => CatalogueFacts = prepareCatalogueFacts(db, scope),
): NewWork {
  const breadth = prepareBreadth(db, scope);
  if (order === "breadth") return breadth;
  const first = order === "value" ? prepareValue(db, scope, readFacts) : prepareDepth(db, scope);
  // Resources that an order leaves out follow level by level, failed ones last.
  return (limit, isTaken) => {
    const taken = first(limit, isTaken);
    return taken.length > 0 ? taken : breadth(limit, isTaken);
  };
}

/** Distinguishes resources that are requested again from new ones. */
export function preparePlannedNew(db: Connection): (added: readonly DueResource[]) => PlannedResource[] {
  const selectRequestedBefore = prepareColumn(db, (p: { ids: string }) =>
    q.selectFrom("_resource").select("id").where("recheck", "=", 1).where("id", "in", idsIn(p.ids)),
  );
  return (added) => {
    const ids = JSON.stringify(added.map(({ id }) => id));
    const requestedBefore = new Set(selectRequestedBefore.all({ ids }));
    return added.map((due) => ({
      ...due,
      reason: requestedBefore.has(due.id) ? "again" : "new",
      isFree: false,
    }));
  };
}

/** Whether something was never requested. */
export function hasDueWork(db: Connection, scope: Scope): boolean {
  const select = prepareColumn(db, (p: ScopeParameters & { kind: string }) =>
    q
      .selectFrom("_resource as r")
      .select("r.id")
      .where("r.kind", "=", p.kind)
      .where("r.state", "=", "due")
      .where(inScope(p, "r"))
      .limit(1),
  );
  const parameters = scopeParameters(scope);
  return scope.kinds.some((kind) => select.get({ ...parameters, kind }) !== undefined);
}

/** Level by level, each in the order of discovery. */
function prepareBreadth(db: Connection, scope: Scope): NewWork {
  const select = prepare(db, (p: ScopeParameters & { kind: string; state: ResourceState }) =>
    q
      .selectFrom("_resource as r")
      .select(dueColumns)
      .where("r.kind", "=", p.kind)
      .where("r.state", "=", p.state)
      .where(inScope(p, "r"))
      .orderBy("r.checked_run")
      .orderBy("r.id"),
  );
  const parameters = scopeParameters(scope);
  const parts = (["due", "failed"] as const).flatMap((state) =>
    scope.kinds.map((kind) => ({ ...parameters, kind, state })),
  );
  return (limit, isTaken) => {
    const taken: DueResource[] = [];
    for (const part of parts) {
      if (taken.length >= limit) break;
      taken.push(...firstOf(select.iterate(part), limit - taken.length, isTaken));
    }
    return taken;
  };
}

/** Models by the expected value of their brand, then sizes, those of the most owned models first. */
function prepareValue(db: Connection, scope: Scope, readFacts: () => CatalogueFacts): NewWork {
  const resourcesOf = prepareSteps(db, scope);
  const isAnyDue = prepareColumn(db, (p: ScopeParameters) =>
    q.selectNoFrom((eb) =>
      eb
        .exists(
          eb
            .selectFrom("_resource as r")
            .select("r.id")
            .where("r.kind", "in", ["brands", "brand", "models", "model"])
            .where("r.state", "=", "due")
            .where(inScope(p, "r")),
        )
        .as("isAnyDue"),
    ),
  );
  const takeSizes = prepareSizes(db, scope);
  const kinds = new Set(scope.kinds);
  const parameters = scopeParameters(scope);

  return (limit, isTaken) => {
    const taken: DueResource[] = [];
    for (const step of isAnyDue.get(parameters) ? rankBrands(readFacts()) : []) {
      if (taken.length >= limit) return taken;
      if (kinds.has(step.kind)) taken.push(...firstOf(resourcesOf(step), limit - taken.length, isTaken));
    }
    return taken.length === 0 && kinds.has("sizes") ? takeSizes(limit, isTaken) : taken;
  };
}

/** @returns a function that reads the due resources of a step */
function prepareSteps(db: Connection, scope: Scope): (step: Step) => Iterable<DueResource> {
  const brandPages = prepare(db, (p: ScopeParameters) => selectDue(p, "brands"));
  const brand = prepare(db, (p: { id: number }) =>
    q.selectFrom("_resource as r").select(dueColumns).where("r.id", "=", p.id),
  );
  const modelPages = prepare(db, (p: ScopeParameters & { id: number }) =>
    selectDue(p, "models")
      .leftJoin("_page as p", "p.id", "r.id")
      .where(sql<number>`coalesce(p.collection_id, r.id)`, "=", p.id),
  );
  const models = prepare(db, (p: ScopeParameters & { id: number }) =>
    selectDue(p, "model").where("r.owner_id", "=", p.id),
  );
  const parameters = scopeParameters(scope);
  return ({ kind, id }) => {
    switch (kind) {
      case "brands":
        return brandPages.iterate(parameters);
      case "brand":
        return brand.iterate({ id });
      case "models":
        return modelPages.iterate({ ...parameters, id });
      case "model":
        return models.iterate({ ...parameters, id });
    }
  };
}

const selectDue = (p: ScopeParameters, kind: Step["kind"]) =>
  q
    .selectFrom("_resource as r")
    .select(dueColumns)
    .where("r.kind", "=", kind)
    .where("r.state", "=", "due")
    .where(inScope(p, "r"))
    .orderBy("r.id");

/**
 * Models with due sizes are read once, and again after all of those are fetched: to sort all due sizes for every plan would
 * cost more than the rest of the run.
 */
function prepareSizes(db: Connection, scope: Scope): NewWork {
  const selectModels = prepareColumn(db, (p: ScopeParameters) =>
    q
      .selectFrom("_model as m")
      .innerJoin(modelsWithDueSizes().as("due"), "due.id", "m.id")
      .innerJoin("_resource as r", "r.id", "m.id")
      .select("m.id")
      .where(inScope(p, "r"))
      .orderBy("m.bra_count", "desc")
      .orderBy("m.id"),
  );
  // `+` and `cross join` keep SQLite from searching all resources of a kind instead of those of one owner.
  const selectDueBelow = prepare(db, (p: { modelId: number }) =>
    q
      .with("listing", (db) =>
        db
          .selectFrom("_resource")
          .select("id")
          .where("owner_id", "=", p.modelId)
          .where(sql<SqlBool>`+kind = 'sizes'`),
      )
      .with("below", (db) =>
        db
          .selectFrom("listing")
          .select(["id", sql<number>`0`.as("level")])
          .unionAll(
            db
              .selectFrom("listing")
              .crossJoin("_resource as r")
              .select(["r.id", sql<number>`1`.as("level")])
              .whereRef("r.owner_id", "=", "listing.id")
              .where(sql<SqlBool>`+r.kind = 'size'`),
          ),
      )
      .selectFrom("below")
      .crossJoin("_resource as r")
      .select(dueColumns)
      .whereRef("r.id", "=", "below.id")
      .where("r.state", "=", "due")
      .where(isFetchable("r"))
      .orderBy("below.level")
      .orderBy("r.id"),
  );
  const parameters = scopeParameters(scope);
  let models: number[] = [];

  return (limit, isTaken) => {
    const taken: DueResource[] = [];
    if (models.length === 0) models = selectModels.all(parameters);
    let done = 0;
    for (const [index, modelId] of models.entries()) {
      if (taken.length >= limit) break;
      const due = selectDueBelow.all({ modelId });
      if (due.length === 0 && done === index) done++;
      taken.push(...firstOf(due, limit - taken.length, isTaken));
    }
    models = models.slice(done);
    return taken;
  };
}

const modelsWithDueSizes = () =>
  q
    .selectFrom("_resource as r")
    .select("r.owner_id as id")
    .where("r.kind", "=", "sizes")
    .where("r.state", "=", "due")
    .union(
      q
        .selectFrom("_resource as r")
        .innerJoin("_resource as c", "c.id", "r.owner_id")
        .select("c.owner_id as id")
        .where("r.kind", "=", "size")
        .where("r.state", "=", "due"),
    );

/** All of one brand before the next. */
function prepareDepth(db: Connection, scope: Scope): NewWork {
  const selectBrands = prepareColumn(db, (p: ScopeParameters & { from: number }) =>
    q
      .selectFrom("_resource as r")
      .select("r.id")
      .where("r.kind", "=", "brand")
      .where("r.state", "in", ["due", "held"])
      .where("r.id", ">=", p.from)
      .where(inScope(p, "r"))
      .orderBy("r.id"),
  );
  const selectDueBelow = prepare(db, (p: ScopeParameters & { brandId: number; kinds: string }) =>
    q
      .withRecursive("tree", (db) =>
        db
          .selectNoFrom(sql<number>`${p.brandId}`.as("id"))
          .union(db.selectFrom("_resource as o").innerJoin("tree", "tree.id", "o.owner_id").select("o.id")),
      )
      .selectFrom("tree")
      .innerJoin("_resource as r", "r.id", "tree.id")
      .innerJoin(
        sql<{ key: number; value: string }>`json_each(${p.kinds})`.as("level"),
        "level.value",
        "r.kind",
      )
      .select(dueColumns)
      .where("r.state", "=", "due")
      .where(inScope(p, "r"))
      .orderBy("level.key")
      .orderBy("r.id"),
  );
  const parameters = { ...scopeParameters(scope), kinds: JSON.stringify(scope.kinds) };
  let currentBrand = 0;

  return (limit, isTaken) => {
    for (const brandId of selectBrands.all({ ...parameters, from: currentBrand })) {
      const taken = firstOf(selectDueBelow.iterate({ ...parameters, brandId }), limit, isTaken);
      currentBrand = brandId;
      if (taken.length > 0) return taken;
    }
    return [];
  };
}
