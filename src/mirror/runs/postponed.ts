/**
 * Resources that the service asked to request later, each for itself, with a long `Retry-After`. In: the mirror and the time.
 * Out: those that are not to be requested yet.
 */
import { sql } from "kysely";
import { maxPostponedMillis } from "../../service/requests/retry-policy.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { isoTime, q } from "../queries/query-builder.ts";

export interface PostponedResource {
  readonly id: number;
  readonly url: string;
  readonly kind: string;
  readonly isHeld: 0 | 1;
  /** What the service responded. */
  readonly error: string;
  /** ISO 8601, UTC. */
  readonly retryAt: string;
}

/** A later time than possible comes from a clock that was put back since. @param now epoch milliseconds */
export function readPostponed(db: Connection, now: number): PostponedResource[] {
  return prepare(db, (p: { from: number; to: number }) =>
    q
      .selectFrom("_resource")
      .select(["id", "url", "kind", (eb) => eb.ref("error").$notNull().as("error")])
      .select([sql<0 | 1>`state = 'held'`.as("isHeld"), isoTime<string>("retry_at").as("retryAt")])
      .where("retry_at", ">", p.from)
      .where("retry_at", "<=", p.to)
      .orderBy("id"),
  ).all({ from: now, to: now + maxPostponedMillis });
}

export const postponedIds = (db: Connection, now: number): number[] =>
  readPostponed(db, now).map(({ id }) => id);
