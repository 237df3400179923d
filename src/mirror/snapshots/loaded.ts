/** What the mirror holds from shared snapshots, and how far the service has confirmed it. */
import { type SqlBool, sql } from "kysely";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { everything, isBelow, type ScopeParameters } from "../scope.ts";

/** Whether the mirror holds a revision that came from a snapshot. */
export const hasLoaded = (db: Connection): boolean => prepareHasLoaded(db)();

export function prepareHasLoaded(db: Connection): () => boolean {
  const select = prepareColumn(db, () => q.selectFrom("_loaded").select("snapshot_id").limit(1));
  return () => select.get() !== undefined;
}

/** Condition: the row of `_loaded as l` is of a current revision, the one of a tombstone excluded. */
export const isCurrent = () => sql<SqlBool>`exists (
  select 1 from _revision v where v.resource_id = l.resource_id and v.seq = l.seq and v.to_run is null)`;

/** Condition: the service has confirmed the row of `_loaded as l` in neither way. */
export const isUnconfirmed = () => sql<SqlBool>`(l.validator_run is null and l.bytes_run is null)`;

/** How the service has confirmed what is held; the sum is all that is held. */
export interface Confirmation {
  /** It has sent the bodies itself. */
  readonly bytes: number;
  /** It has confirmed the validators of bodies from snapshots. */
  readonly validator: number;
  /** From snapshots, and not confirmed yet. */
  readonly unconfirmed: number;
}

/**
 * Of held resources, by kind; null without snapshots, where everything is confirmed by bytes.
 * @param scope default: all resources
 */
export function readConfirmations(
  db: Connection,
  scope = everything,
): ReadonlyMap<string, Confirmation> | null {
  if (!hasLoaded(db)) return null;
  const held = prepare(db, (p: ScopeParameters) =>
    q
      .selectFrom("_resource")
      .select(["kind", (eb) => eb.fn.countAll<number>().as("count")])
      .where("state", "=", "held")
      .where(isBelow(p, "id"))
      .groupBy("kind"),
  ).all(scope);
  const loaded = prepare(db, (p: ScopeParameters) =>
    q
      .selectFrom("_loaded as l")
      .innerJoin("_resource as r", "r.id", "l.resource_id")
      .select("r.kind")
      .select(sql<number>`total(l.validator_run is not null)`.as("validator"))
      .select(sql<number>`total(l.validator_run is null)`.as("unconfirmed"))
      .where("r.state", "=", "held")
      .where("l.bytes_run", "is", null)
      .where(isCurrent())
      .where(isBelow(p, "r.id"))
      .groupBy("r.kind"),
  ).all(scope);
  return new Map(
    held.map(({ kind, count }) => {
      const found = loaded.find((row) => row.kind === kind);
      const { validator = 0, unconfirmed = 0 } = found ?? {};
      return [kind, { bytes: count - validator - unconfirmed, validator, unconfirmed }];
    }),
  );
}

/** Of all held resources; null without snapshots. */
export function readConfirmation(db: Connection): Confirmation | null {
  const kinds = readConfirmations(db);
  return kinds && sumOf([...kinds.values()]);
}

export function sumOf(all: readonly Confirmation[]): Confirmation {
  const sum = (key: keyof Confirmation) => all.reduce((total, counts) => total + counts[key], 0);
  return { bytes: sum("bytes"), validator: sum("validator"), unconfirmed: sum("unconfirmed") };
}
