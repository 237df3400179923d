/**
 * Lists of an account that the service refuses to the user's token although it accepts the token: the token lacks their
 * scope. What is held of them stays. A list that was never held is not due meanwhile; it is requested again from time to
 * time, since the user may grant more. One that is held is requested again sooner: the refusal may have been an error.
 */
import { sql } from "kysely";
import type { ResourceState } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";
import { readMeta, removeMeta, writeMeta } from "../file/meta.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q, textsIn } from "../queries/query-builder.ts";

/** Links of the user, kinds of their targets, and names of their scopes. */
export const scopeLists = ["bras", "measurements"] as const;
export type ScopeList = (typeof scopeLists)[number];

/** Key in `_meta`: when the list was refused, ISO 8601. */
const keyOf = (list: ScopeList): string => `refused_${list}`;

/** When the list was last refused; null if a later request succeeded, or it is to be requested again. */
export function readRefusedAt(db: Connection, list: ScopeList): string | null {
  return readMeta(db, keyOf(list));
}

/** The list that the user links to at this URL; null for any other resource, later pages included. */
export function findScopeList(db: Connection, url: string): ScopeList | null {
  const select = prepareColumn(db, (p: { url: string }) =>
    q
      .selectFrom("_link as l")
      .innerJoin("_resource as me", "me.id", "l.from_id")
      .innerJoin("_resource as list", "list.id", "l.to_id")
      .select("l.name")
      .where("me.kind", "=", "me")
      .where("list.url", "=", p.url),
  );
  const names = select.all({ url });
  return scopeLists.find((list) => names.includes(list)) ?? null;
}

/** The lists that the user links to, in the order of their names. */
export function readScopeListIds(db: Connection): number[] {
  const select = prepareColumn(db, (p: { names: string }) =>
    q
      .selectFrom("_link as l")
      .innerJoin("_resource as me", "me.id", "l.from_id")
      .select(sql<number>`l.to_id`.as("id"))
      .where("me.kind", "=", "me")
      .where("l.name", "in", textsIn(p.names))
      .where("l.to_id", "is not", null)
      .orderBy("l.name"),
  );
  return select.all({ names: JSON.stringify(scopeLists) });
}

export interface Refusals {
  /** @param at ISO 8601 */
  note(resource: { readonly id: number; readonly url: string }, at: string): void;
  /** Records that a request for a list succeeded. */
  clear(kind: string): void;
}

/** To be called inside a transaction. */
export function prepareRefusals(db: Connection): Refusals {
  const setElsewhere = prepare(db, (p: { id: number }) =>
    q
      .updateTable("_resource")
      .set({ error: null, state: sql<ResourceState>`iif(state = 'held', 'held', 'elsewhere')` })
      .where("id", "=", p.id),
  );
  return {
    note({ id, url }, at) {
      const list = findScopeList(db, url);
      if (list === null) throw new Error(`not a list of the user: ${url}`);
      writeMeta(db, keyOf(list), at);
      setElsewhere.run({ id });
    },
    clear(kind) {
      const list = scopeLists.find((name) => name === kind);
      if (list !== undefined && readRefusedAt(db, list) !== null) removeMeta(db, keyOf(list));
    },
  };
}

export interface RefusalLimits {
  /** ISO 8601: later refusals of lists that were never held still hold. */
  readonly before: string;
  /** ISO 8601: later refusals of lists that are held still hold. */
  readonly heldBefore: string;
  /** ISO 8601: refusals later than that were noted by a wrong clock. */
  readonly now: string;
}

/** Makes refused lists due again. */
export function recheckRefused(db: Connection, { before, heldBefore, now }: RefusalLimits): void {
  const selectHeld = prepareColumn(db, (p: { kind: string }) =>
    q.selectFrom("_resource").select("id").where("kind", "=", p.kind).where("state", "=", "held").limit(1),
  );
  const setDue = prepare(db, (p: { kind: string }) =>
    q
      .updateTable("_resource")
      .set({ state: "due" })
      .where("kind", "=", p.kind)
      .where("state", "=", "elsewhere"),
  );
  for (const list of scopeLists) {
    const at = readRefusedAt(db, list);
    const limit = selectHeld.get({ kind: list }) === undefined ? before : heldBefore;
    if (at === null || (at > limit && at <= now)) continue;
    removeMeta(db, keyOf(list));
    setDue.run({ kind: list });
  }
}
