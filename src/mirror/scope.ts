/** The scope of a run, and the conditions that select the resources in it that are worth a request. */
import { type RawBuilder, type SqlBool, sql } from "kysely";

/** The resources that a run covers. */
export interface Scope {
  /** In the order in which they are fetched. */
  readonly kinds: readonly string[];
  /** Only these resources and everything below them; null for all. */
  readonly belowIds: readonly number[] | null;
  /** Without the resources below them; default: false. */
  readonly isExact?: boolean;
}

/** A scope as parameters of a statement, for `inScope`. */
export interface ScopeParameters {
  /** JSON array of ids; null for all resources. */
  belowIds: string | null;
  isExact: 0 | 1;
}

export const scopeParameters = ({ belowIds, isExact = false }: Scope): ScopeParameters => ({
  belowIds: belowIds && JSON.stringify(belowIds),
  isExact: isExact ? 1 : 0,
});

export interface DueResource {
  readonly id: number;
  readonly url: string;
  readonly kind: string;
  /** The validator for a conditional request; null if the mirror has none. */
  readonly etag: string | null;
}

/** All resources. */
export const everything: ScopeParameters = { belowIds: null, isExact: 0 };

/** The columns of a `DueResource`, from `_resource as r`. */
export const dueColumns = ["r.id", "r.url", "r.kind", "r.etag"] as const;

/** Whether the `_resource` with this alias is in the scope and worth a request. */
export const inScope = (p: ScopeParameters, alias: string): RawBuilder<SqlBool> =>
  sql`${isFetchable(alias)} and ${isBelow(p, `${alias}.id`)}`;

/** Whether a column has the id of one of the resources `belowIds`, or of one below them. */
export function isBelow({ belowIds, isExact }: ScopeParameters, column: string): RawBuilder<SqlBool> {
  // Raw: a recursive query within a condition is clearer in SQL. SQLite runs it once, and only if there are ids.
  return sql`(${belowIds} is null or ${sql.ref(column)} in (
    with recursive tree (id) as (
      select value from json_each(${belowIds})
      union select r.id from _resource r join tree on r.owner_id = tree.id where not ${isExact}
    ) select id from tree))`;
}

/**
 * Whether the `_resource` with this alias is worth a request. A missing item reappears in its listing, and resources
 * below an absent one wait for that one; only a 404 or 410 of the resource itself is verified by a request.
 */
export function isFetchable(alias: string): RawBuilder<SqlBool> {
  const absentBy = sql.ref(`${alias}.absent_by`);
  return sql`(${absentBy} is null or ${absentBy} = 'response')`;
}

/** The first rows that are not taken, at most `limit`. */
export function firstOf(
  rows: Iterable<DueResource>,
  limit: number,
  isTaken: (id: number) => boolean,
): DueResource[] {
  const taken: DueResource[] = [];
  if (limit <= 0) return taken;
  for (const row of rows) {
    if (isTaken(row.id)) continue;
    taken.push(row);
    if (taken.length === limit) break;
  }
  return taken;
}
