/** Finding and adding resources: a URL becomes one row, once, with the kind of where its link was found. */
import type { Area, Kinds } from "../../../schema/kind.ts";
import type { ResourceState } from "../../../schema/tables.ts";
import type { Connection } from "../file/connection.ts";

export interface KnownResource {
  readonly id: number;
  readonly kind: string;
  readonly ownerId: number | null;
  readonly state: ResourceState;
}

/** A resource whose body was derived, as those see it who write what it gives. */
export interface WrittenResource {
  readonly id: number;
  readonly url: string;
  readonly kind: string;
  readonly ownerId: number | null;
  /** Whether an earlier body of it was derived before, so that there is something to replace. */
  readonly isKnown: boolean;
}

export interface EnsuredResource {
  readonly id: number;
  readonly kind: string;
  /** Nothing had led to it before, or nothing that said what it is. */
  readonly isNew: boolean;
  /** It was known without a known kind, and has one now. */
  readonly isRetyped: boolean;
  /** It was known without an owner, and has one now. */
  readonly isAdopted: boolean;
  readonly hasConflict: boolean;
}

export interface Resources {
  find(url: string): KnownResource | undefined;
  /**
   * Finds the resource or adds it. The first known kind wins, and a conflict says that another one disagrees. What was
   * gone and is linked again is due again.
   */
  ensure(url: string, kind: string, ownerId: number | null, runId: number): EnsuredResource;
  ownerOf(id: number): number | null;
}

/** @param isRereading what is read was read before: a link in it was seen before its target was gone, and revives nothing */
export function prepareResources(
  db: Connection,
  kinds: Kinds,
  area: Area,
  { isRereading = false }: { readonly isRereading?: boolean } = {},
): Resources {
  const select = db.prepare<[string], KnownResource>(
    "select id, kind, owner_id as ownerId, state from _resource where url = ?",
  );
  const insert = db.prepare(
    `insert into _resource (url, kind, owner_id, state, first_run) values (?, ?, ?, ?, ?)
     on conflict (url) do nothing`,
  );
  const setKind = db.prepare("update _resource set kind = ?, state = ?, etag = null where id = ?");
  const setState = db.prepare("update _resource set state = ? where id = ?");
  const setOwner = db.prepare("update _resource set owner_id = ? where id = ?");
  const selectOwner = db
    .prepare<[number], number | null>("select owner_id from _resource where id = ?")
    .pluck();

  const initialState = (kind: string) =>
    kinds[kind] && !kinds[kind].areas.includes(area) ? "elsewhere" : "due";

  return {
    find: (url) => select.get(url),
    ownerOf: (id) => selectOwner.get(id) ?? null,
    ensure(url, kind, ownerId, runId) {
      // What belongs to something is mostly met first where that is read; what does not is mostly its parent.
      let known = ownerId === null ? select.get(url) : undefined;
      if (known === undefined) {
        const { changes, lastInsertRowid } = insert.run(url, kind, ownerId, initialState(kind), runId);
        if (changes === 1) {
          const id = Number(lastInsertRowid);
          return { id, kind, isNew: true, isRetyped: false, isAdopted: false, hasConflict: false };
        }
        known = select.get(url) as KnownResource;
      }
      if (known.state === "gone" && !isRereading) setState.run("due", known.id);
      const isAdopted = known.ownerId === null && ownerId !== null && ownerId !== known.id;
      if (isAdopted) setOwner.run(ownerId, known.id);
      const disagrees = known.kind !== kind && Object.hasOwn(kinds, kind);
      const isRetyped = disagrees && !Object.hasOwn(kinds, known.kind);
      // Without its validator it comes again in full, so that its body is read as what it now is.
      if (isRetyped) setKind.run(kind, initialState(kind), known.id);
      return {
        id: known.id,
        kind: isRetyped ? kind : known.kind,
        isNew: isRetyped,
        isRetyped,
        isAdopted,
        hasConflict: disagrees && !isRetyped,
      };
    },
  };
}
