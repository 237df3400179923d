/** Finds and adds resources: one row per URL, with the kind that the link to it implies. */
import type { Area, Kinds } from "../../../schema/kind.ts";
import type { ResourceState } from "../../../schema/tables.ts";
import { dueAgain } from "../absence/absences.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { prepareKnownAddresses } from "../known-addresses.ts";
import { q, textsIn } from "../queries/query-builder.ts";
import { type StoredResource, storedResourceColumns } from "./resource-states.ts";

/** A resource whose body was derived, for writing the results. */
export interface WrittenResource {
  readonly id: number;
  readonly url: string;
  readonly kind: string;
  readonly ownerId: number | null;
  /** Whether an earlier body was derived, so that rows may exist. */
  readonly isKnown: boolean;
}

export interface EnsuredResource {
  readonly id: number;
  readonly kind: string;
  /** Nothing linked to it before, or only links of unknown kinds. */
  readonly isNew: boolean;
  /** Its kind was unknown until now. */
  readonly isRetyped: boolean;
  /** It had no owner until now. */
  readonly gotOwner: boolean;
  /** It already has another known kind. */
  readonly hasConflict: boolean;
}

export interface Resources {
  /** Also by another spelling of its address. */
  find(url: string): StoredResource | undefined;
  /**
   * Finds the resource or adds it. The first known kind wins; `hasConflict` reports a different one. A linked
   * tombstone becomes due.
   */
  ensure(url: string, kind: string, ownerId: number | null, runId: number): EnsuredResource;
  ownerOf(id: number): number | null;
}

/** Makes known resources due, even if this run has checked them; tombstones stay. @returns their ids */
export function requestAgain(db: Connection, urls: readonly string[]): number[] {
  const setDue = prepare(db, (p: { urls: string }) =>
    q
      .updateTable("_resource")
      .set(dueAgain)
      .where("url", "in", textsIn(p.urls))
      .where("state", "in", ["held", "due", "failed"])
      .returning("id"),
  );
  return setDue.all({ urls: JSON.stringify(urls) }).map(({ id }) => id);
}

export interface ResourcesOptions {
  /** Whether a link to this tombstone makes it due. Default: always. */
  readonly revives?: (tombstone: StoredResource) => boolean;
}

export function prepareResources(
  db: Connection,
  kinds: Kinds,
  area: Area,
  { revives = () => true }: ResourcesOptions = {},
): Resources {
  const statements = prepareStatements(db);
  const addresses = prepareKnownAddresses(db);
  const find = (url: string): StoredResource | undefined =>
    [url, ...addresses.othersOf(url)].reduce<StoredResource | undefined>(
      (known, spelling) => known ?? statements.select.get({ url: spelling }),
      undefined,
    );

  const initialState = (kind: string): ResourceState =>
    kinds[kind] && !kinds[kind].areas.includes(area) ? "elsewhere" : "due";

  return {
    find,
    ownerOf: (id) => statements.selectOwner.get({ id }) ?? null,
    ensure(url, kind, ownerId, runId) {
      // An owned resource is usually new, so that inserting first saves a query; other targets usually exist.
      const mayBeKnown = ownerId === null || addresses.othersOf(url).length > 0;
      let known = mayBeKnown ? find(url) : undefined;
      if (known === undefined) {
        const state = initialState(kind);
        const { changes, lastInsertRowid } = statements.insert.run({ url, kind, ownerId, state, runId });
        if (changes === 1) {
          const id = Number(lastInsertRowid);
          addresses.note(url);
          return { id, kind, isNew: true, isRetyped: false, gotOwner: false, hasConflict: false };
        }
        known = statements.select.get({ url });
        if (known === undefined) throw new Error(`the resource was neither inserted nor found: ${url}`);
      }
      const { id } = known;
      if (known.state === "gone" && revives(known)) statements.setState.run({ id, state: "due" });
      const isOtherKind = known.kind !== kind && Object.hasOwn(kinds, kind);
      const isRetyped = isOtherKind && !Object.hasOwn(kinds, known.kind);
      const hasConflict = isOtherKind && !isRetyped;
      const gotOwner =
        known.ownerId === null && ownerId !== null && !hasConflict && !isWithin(ownerId, id, statements);
      if (gotOwner) statements.setOwner.run({ id, ownerId });
      // Without a validator its body is sent again in full, and derived as its new kind.
      if (isRetyped) statements.setKind.run({ id, kind, state: initialState(kind) });
      return {
        id,
        kind: isRetyped ? kind : known.kind,
        isNew: isRetyped,
        isRetyped,
        gotOwner,
        hasConflict,
      };
    },
  };
}

/**
 * Whether one resource is the other, or below it. A list may name the root, or what led to the list: if that had the list as
 * owner, it would be gone with it.
 */
function isWithin(id: number, ancestorId: number, { selectOwner }: Statements): boolean {
  const visited = new Set<number>();
  for (
    let at: number | null | undefined = id;
    at != null && !visited.has(at);
    at = selectOwner.get({ id: at })
  ) {
    if (at === ancestorId) return true;
    visited.add(at);
  }
  return false;
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(db: Connection) {
  interface NewResource {
    url: string;
    kind: string;
    ownerId: number | null;
    state: ResourceState;
    runId: number;
  }
  return {
    select: prepare(db, (p: { url: string }) =>
      q.selectFrom("_resource").select(storedResourceColumns).where("url", "=", p.url),
    ),
    insert: prepare(db, (p: NewResource) =>
      q
        .insertInto("_resource")
        .values({ url: p.url, kind: p.kind, owner_id: p.ownerId, state: p.state, first_run: p.runId })
        .onConflict((conflict) => conflict.column("url").doNothing()),
    ),
    setKind: prepare(db, (p: { id: number; kind: string; state: ResourceState }) =>
      q.updateTable("_resource").set({ kind: p.kind, state: p.state, etag: null }).where("id", "=", p.id),
    ),
    setState: prepare(db, (p: { id: number; state: ResourceState }) =>
      q.updateTable("_resource").set({ state: p.state }).where("id", "=", p.id),
    ),
    setOwner: prepare(db, (p: { id: number; ownerId: number }) =>
      q.updateTable("_resource").set({ owner_id: p.ownerId }).where("id", "=", p.id),
    ),
    selectOwner: prepareColumn(db, (p: { id: number }) =>
      q.selectFrom("_resource").select("owner_id").where("id", "=", p.id),
    ),
  };
}
