/** Adds to changes the keys that `armoire show` takes. */
import { entities } from "../../schema/entities.ts";
import { resourceKeyFrom } from "../../schema/views/resource-key.ts";
import type { Connection } from "../mirror/file/connection.ts";
import { rowsAt } from "../mirror/past/as-of.ts";
import { entityTable } from "../mirror/rows/versioned-rows.ts";
import type { Change, Reported } from "./change.ts";

export type FindKey = (href: string) => string | null;

/** `key`: such as `brand/model/size`; the URL without slugs; null if no mirror is compared, or it does not know the resource. */
export type Keyed<Found> = Found & { readonly key: string | null };

/** @param run shows keys as they were when it had closed; null for the present ones, also where views show the past */
export function createKeyFinder(db: Connection, run: number | null): FindKey {
  const rowOf = (name: string, id: string): string => {
    const entity = entities.find(({ table }) => `_${table}` === name);
    if (run === null || entity === undefined) return `(select * from main.${name} where id = ${id})`;
    return `(${rowsAt(entityTable(entity), run, `id = ${id}`)})`;
  };
  // Raw: an expression that views share, and rows of the past.
  const select = db
    .prepare<[string], string | null>(
      `select ${resourceKeyFrom("r", rowOf)} from main._resource r where r.url = ?`,
    )
    .pluck();
  return (href) => select.get(href) ?? null;
}

export function* withKeys<Found extends Change | Reported>(
  changes: Iterable<Found>,
  findKey: FindKey,
): Generator<Keyed<Found>> {
  for (const change of changes) yield Object.assign({ kind: change.kind, key: findKey(change.href) }, change);
}
