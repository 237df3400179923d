/** Columns and conditions that several queries of the plan share, for a `_resource` with this alias. */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { isFetchable } from "../../../mirror/absence/absences.ts";
import { isInScope, type Scope } from "../../../mirror/check-cycle.ts";

/** Those of a `DueResource`. */
export const dueColumns = ["r.id", "r.url", "r.kind", "r.etag"] as const;

/** Whether a resource belongs to the scope and is worth a request. */
export const inScope = (scope: Scope, alias: string): RawBuilder<SqlBool> =>
  sql.raw<SqlBool>(isInScope(scope, alias));

/** Whether a resource is worth a request. */
export const fetchable = (alias: string): RawBuilder<SqlBool> => sql.raw<SqlBool>(isFetchable(alias));

/** The texts of a JSON array, for `in`. */
export const textsIn = <Text extends string = string>(json: string): RawBuilder<Text> =>
  sql<Text>`(select value from json_each(${json}))`;
