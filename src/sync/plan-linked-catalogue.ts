/**
 * What `syncLinkedCatalogue` would fetch for the first time, from both mirrors alone and without a request. What is held may be
 * checked besides, where a check is owed.
 */
import { existsSync } from "node:fs";
import { findLinkedEntities } from "../mirror/linked-entities.ts";

export interface LinkedCataloguePlan {
  /** The catalogue's mirror. */
  readonly mirror: string;
  /** By kind, what her bras link to and is not held, as far as is known: each costs a request of the catalogue's allowance. */
  readonly due: readonly { readonly kind: string; readonly fetch: number }[];
}

/**
 * @returns null before the account's first sync, when nobody knows what her bras link to
 * @throws MirrorError
 */
export function planLinkedCatalogue(accountFile: string, file: string): LinkedCataloguePlan | null {
  if (!existsSync(accountFile)) return null;
  const missing = findLinkedEntities(accountFile, file).filter(
    ({ state }) => state === "due" || state === "failed",
  );
  const due = [...Map.groupBy(missing, ({ kind }) => kind)]
    .map(([kind, { length }]) => ({ kind, fetch: length }))
    .sort((one, other) => (one.kind < other.kind ? -1 : 1));
  return { mirror: file, due };
}
