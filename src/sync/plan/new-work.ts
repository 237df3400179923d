/**
 * What was never fetched, in the order in which to fetch it. In: the mirror. Out: due resources. It knows nothing of
 * checks, allowances or requests.
 */
import { isFetchable } from "../../mirror/absence/absences.ts";
import { type DueResource, firstOf, isInScope, type Scope } from "../../mirror/check-cycle.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { prepareCatalogueFacts, rankBrands } from "./rank-brands.ts";
import type { Order, PlannedResource } from "./request.ts";

/** Gives due resources that `isTaken` does not know, at most `limit`. */
export type NewWork = (limit: number, isTaken: (id: number) => boolean) => DueResource[];

const columns = "r.id, r.url, r.kind, r.etag";

export function prepareNewWork(db: Connection, scope: Scope, order: Order): NewWork {
  const breadth = prepareBreadth(db, scope);
  if (order === "breadth") return breadth;
  const first = order === "value" ? prepareValue(db, scope) : prepareDepth(db, scope);
  // What an order says nothing of comes level by level, when nothing else is left; what failed before comes last.
  return (limit, isTaken) => {
    const taken = first(limit, isTaken);
    return taken.length > 0 ? taken : breadth(limit, isTaken);
  };
}

/** Tells what was asked for before and is to answer again from what never was. */
export function preparePlannedNew(db: Connection): (added: readonly DueResource[]) => PlannedResource[] {
  const selectAskedBefore = db
    .prepare<[string], number>(
      "select id from _resource where recheck = 1 and id in (select value from json_each(?))",
    )
    .pluck();
  return (added) => {
    const askedBefore = new Set(selectAskedBefore.all(JSON.stringify(added.map(({ id }) => id))));
    return added.map((due) => ({ ...due, reason: askedBefore.has(due.id) ? "again" : "new", isFree: false }));
  };
}

/** How many were never fetched, by kind. */
export function countNewWork(db: Connection, scope: Scope): ReadonlyMap<string, number> {
  const count = db
    .prepare<[string], number>(
      `select count(*) from _resource r where r.kind = ? and r.state in ('due', 'failed') and ${isInScope(scope, "r")}`,
    )
    .pluck();
  return new Map(scope.kinds.map((kind) => [kind, count.get(kind) ?? 0]));
}

/** Whether something was never asked for yet. */
export function hasDueWork(db: Connection, scope: Scope): boolean {
  const select = db.prepare<[string], number>(
    `select 1 from _resource r where r.kind = ? and r.state = 'due' and ${isInScope(scope, "r")} limit 1`,
  );
  return scope.kinds.some((kind) => select.get(kind) !== undefined);
}

/** Level by level, each in the order of discovery. */
function prepareBreadth(db: Connection, scope: Scope): NewWork {
  const select = db.prepare<[string, string], DueResource>(
    `select ${columns} from _resource r where r.kind = ? and r.state = ? and ${isInScope(scope, "r")} order by r.checked_run, r.id`,
  );
  const parts = ["due", "failed"].flatMap((state) => scope.kinds.map((kind) => ({ kind, state })));
  return (limit, isTaken) => {
    const taken: DueResource[] = [];
    for (const { kind, state } of parts) {
      if (taken.length >= limit) break;
      taken.push(...firstOf(select.iterate(kind, state), limit - taken.length, isTaken));
    }
    return taken;
  };
}

/** Models by what is expected of their brand, then sizes, those of the most owned models first. */
function prepareValue(db: Connection, scope: Scope): NewWork {
  const readFacts = prepareCatalogueFacts(db, scope);
  const inScope = isInScope(scope, "r");
  const select = {
    brands: db.prepare<[number], DueResource>(
      `select ${columns} from _resource r where r.kind = 'brands' and r.state = 'due' and ? = 0 and ${inScope} order by r.id`,
    ),
    brand: db.prepare<[number], DueResource>(`select ${columns} from _resource r where r.id = ?`),
    models: db.prepare<[number], DueResource>(
      `select ${columns} from _resource r left join _page p on p.id = r.id
       where r.kind = 'models' and r.state = 'due' and coalesce(p.collection_id, r.id) = ? and ${inScope} order by r.id`,
    ),
    model: db.prepare<[number], DueResource>(
      `select ${columns} from _resource r where r.owner_id = ? and r.kind = 'model' and r.state = 'due' and ${inScope} order by r.id`,
    ),
  };
  const isAnyDue = db
    .prepare<[], 0 | 1>(
      `select exists (select 1 from _resource r
       where r.kind in ('brands', 'brand', 'models', 'model') and r.state = 'due' and ${inScope})`,
    )
    .pluck();
  const takeSizes = prepareSizes(db, scope);
  const wanted = new Set(scope.kinds);

  return (limit, isTaken) => {
    const taken: DueResource[] = [];
    for (const step of isAnyDue.get() === 1 ? rankBrands(readFacts()) : []) {
      if (taken.length >= limit) return taken;
      if (!wanted.has(step.what)) continue;
      taken.push(...firstOf(select[step.what].iterate(step.id), limit - taken.length, isTaken));
    }
    return taken.length === 0 && wanted.has("sizes") ? takeSizes(limit, isTaken) : taken;
  };
}

/**
 * The models with something due below them are read once, and again when all of that is done: to sort all sizes that are
 * due for every plan would cost more than the rest of the run.
 */
function prepareSizes(db: Connection, scope: Scope): NewWork {
  const inScope = isInScope(scope, "r");
  const selectModels = db
    .prepare<[], number>(
      `select m.id from _model m join (
         select r.owner_id as id from _resource r where r.kind = 'sizes' and r.state = 'due'
         union
         select c.owner_id from _resource r join _resource c on c.id = r.owner_id where r.kind = 'size' and r.state = 'due'
       ) due on due.id = m.id join _resource r on r.id = m.id where ${inScope} order by m.bra_count desc, m.id`,
    )
    .pluck();
  // `+` and `cross join` keep SQLite from going through all resources of a kind instead of those of one owner.
  const selectBelow = db.prepare<[number], DueResource>(
    `with listing (id) as (select id from _resource where owner_id = ? and +kind = 'sizes'),
     below (id, level) as (
       select id, 0 from listing
       union all
       select r.id, 1 from listing cross join _resource r on r.owner_id = listing.id and +r.kind = 'size'
     )
     select ${columns} from below cross join _resource r on r.id = below.id
     where r.state = 'due' and ${isFetchable("r")} order by below.level, r.id`,
  );
  let models: number[] = [];

  return (limit, isTaken) => {
    const taken: DueResource[] = [];
    if (models.length === 0) models = selectModels.all();
    let done = 0;
    for (const [index, model] of models.entries()) {
      if (taken.length >= limit) break;
      const due = selectBelow.all(model);
      if (due.length === 0 && done === index) done++;
      taken.push(...firstOf(due, limit - taken.length, isTaken));
    }
    models = models.slice(done);
    return taken;
  };
}

/** All of one brand before the next. */
function prepareDepth(db: Connection, scope: Scope): NewWork {
  const selectBrands = db
    .prepare<[number], number>(
      `select r.id from _resource r where r.kind = 'brand' and r.state in ('due', 'held') and r.id >= ? and ${isInScope(scope, "r")} order by r.id`,
    )
    .pluck();
  const selectBelow = db.prepare<[number, string], DueResource>(
    `with recursive tree (id) as (
       select ? union select o.id from _resource o join tree on o.owner_id = tree.id
     )
     select ${columns} from tree join _resource r on r.id = tree.id
     join (select key as level, value as kind from json_each(?)) l on l.kind = r.kind
     where r.state = 'due' and ${isInScope(scope, "r")} order by l.level, r.id`,
  );
  const kinds = JSON.stringify(scope.kinds);
  let present = 0;

  return (limit, isTaken) => {
    for (const brandId of selectBrands.all(present)) {
      const taken = firstOf(selectBelow.iterate(brandId, kinds), limit, isTaken);
      present = brandId;
      if (taken.length > 0) return taken;
    }
    return [];
  };
}
