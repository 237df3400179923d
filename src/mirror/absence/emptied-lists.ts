/**
 * Lists that had items and are empty now. That is more often an error of the service than the truth, so their items stay,
 * also if the list is consistent, until the user approves or the list has items again.
 */
import { type SqlBool, sql } from "kysely";
import type { Connection } from "../file/connection.ts";
import { readMeta, writeMeta } from "../file/meta.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { everything, isBelow, type ScopeParameters } from "../scope.ts";

export interface EmptiedList {
  readonly collectionId: number;
  readonly url: string;
  /** Of the items; of the list, if they have no address. */
  readonly kind: string;
  /** Former items that are not known to be gone. */
  readonly absent: number;
}

/** The lists that wait for approval. @param scope default: all */
export function readEmptiedLists(db: Connection, scope = everything): EmptiedList[] {
  const approved = readApproved(db);
  const withResources = prepare(db, (p: ScopeParameters) =>
    selectFormerItems()
      .select(["l.id as collectionId", "l.url", "r.kind"])
      .select((eb) => eb.fn.countAll<number>().as("absent"))
      .where(isBelow(p, "l.id"))
      .groupBy(["l.id", "r.kind"])
      .orderBy("l.id"),
  ).all(scope);
  return [...withResources, ...selectEmptiedInline(db, scope)].filter(
    ({ collectionId }) => approved[collectionId] !== revisionOf(db, collectionId),
  );
}

/** Lists whose items have no address, such as measurements: a later body replaces them, and the past keeps them. */
function selectEmptiedInline(db: Connection, scope: ScopeParameters): EmptiedList[] {
  return prepare(db, (p: ScopeParameters) =>
    selectEmptyLists()
      .innerJoin("_measurement_past as m", "m.parent_id", "l.id")
      .select(["l.id as collectionId", "l.url", "l.kind"])
      .select((eb) => eb.fn.countAll<number>().as("absent"))
      .where(isBelow(p, "l.id"))
      .where(sql<SqlBool>`not exists (select 1 from _measurement where parent_id = l.id)`)
      .where("m.to_run", "=", (eb) =>
        eb
          .selectFrom("_measurement_past")
          .select(({ fn }) => fn.max("to_run").as("run"))
          .whereRef("parent_id", "=", "l.id"),
      )
      .groupBy("l.id")
      .orderBy("l.id"),
  ).all(scope);
}

/** Former items that were not checked since their list is empty. */
export function selectUncheckedItems(db: Connection): number[] {
  return prepareColumn(db, () =>
    selectFormerItems()
      .select("r.id")
      .where("r.checked_run", "<", (eb) =>
        eb
          .selectFrom("_revision")
          .select("from_run")
          .whereRef("resource_id", "=", "l.id")
          .where("to_run", "is", null),
      ),
  ).all();
}

/** Accepts that these lists are empty although their items exist. A later, different response is reported again. */
export function approveEmptiedLists(db: Connection): void {
  const lists = readEmptiedLists(db);
  if (lists.length === 0) return;
  const approved = lists.map(({ collectionId }) => [collectionId, revisionOf(db, collectionId)]);
  writeMeta(db, metaKey, JSON.stringify({ ...readApproved(db), ...Object.fromEntries(approved) }));
}

const metaKey = "approved_empty_lists";

/** The approved revision of each list, by its id. */
const readApproved = (db: Connection): Readonly<Record<string, number>> =>
  JSON.parse(readMeta(db, metaKey) ?? "{}");

function revisionOf(db: Connection, resourceId: number): number | undefined {
  return prepareColumn(db, (p: { id: number }) =>
    q.selectFrom("_revision").select("seq").where("resource_id", "=", p.id).where("to_run", "is", null),
  ).get({ id: resourceId });
}

/** `r`: live items without a note, and in no other list; `l`: their list. */
const selectFormerItems = () =>
  selectEmptyLists()
    .innerJoin("_resource as r", "r.owner_id", "l.id")
    .where("r.state", "in", ["held", "due", "failed"])
    .where("r.absent_by", "is", null)
    .where(sql<SqlBool>`not exists (select 1 from _member where item_id = r.id)`);

/** `l`: held, consistent and empty. */
const selectEmptyLists = () =>
  q
    .selectFrom("_page as p")
    .innerJoin("_resource as l", "l.id", "p.id")
    .whereRef("p.id", "=", "p.collection_id")
    .where("p.next_id", "is", null)
    .where("l.state", "=", "held")
    .where("l.absent_by", "is", null)
    .where(sql<SqlBool>`not exists (select 1 from _member where page_id = p.id)`)
    .where(sql<SqlBool>`not exists (select 1 from _pass where collection_id = p.id)`);
