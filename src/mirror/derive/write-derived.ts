/**
 * Writes the result of `deriveOrThrow` to the mirror: discovered resources, links, pages and their members, typed
 * rows, issues. It serves both ingest and rebuild. Runs inside their transaction.
 */
import { type SqlBool, sql } from "kysely";
import type { Entity } from "../../../schema/rows-from-body.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { prepareTypedRows, type ReferenceIds } from "../rows/typed-rows.ts";
import type { SearchNotes } from "../search/search-index.ts";
import type { Derived, DerivedIssue } from "./derive.ts";
import { prepareDrift } from "./drift.ts";
import type { Links } from "./links.ts";
import { preparePages } from "./pages.ts";
import type { EnsuredResource, Resources, WrittenResource } from "./resources.ts";

export interface DerivedWriter {
  /** @returns the number of resources that are new to the mirror */
  write(resource: WrittenResource, derived: Derived, runId: number): number;
}

/** Codes of issues that depend on when pages were read, and cannot be derived from their bodies. */
export const issuesOfReading = ["page-loop", "partial-listing"] as const;

/**
 * @param search receives resources whose names may have changed
 * @param keepsChains leaves the links between pages, and their issues, as they are: they depend on when pages were
 * read
 */
export function prepareDerivedWriter(
  db: Connection,
  resources: Resources,
  links: Links,
  search: SearchNotes,
  { keepsChains = false }: { readonly keepsChains?: boolean } = {},
): DerivedWriter {
  const pages = preparePages(db, resources);
  const typedRows = prepareTypedRows(db);
  const issues = prepareIssues(db, keepsChains);

  return {
    write(resource, derived, runId) {
      let discovered = 0;
      const ensure = (
        url: string,
        kind: string,
        ownerId: number | null,
        pointer: string,
      ): EnsuredResource => {
        const target = resources.ensure(url, kind, ownerId, runId);
        if (target.isNew) discovered++;
        if (target.gotOwner && ownerId !== null)
          typedRows.setOwner(target.id, resources.ownerOf(ownerId), runId);
        if (target.isRetyped) search.noteRetyped(target.id);
        if (target.hasConflict) issues.add(resource, { pointer, code: "kind-conflict" }, runId);
        return target;
      };

      if (resource.isKnown) issues.remove(resource.id);
      const linkIds = links.write(resource, derived.links, runId, (...target) => ensure(...target).id);
      // Before the pages: whether a page has anything new is seen from its rows too.
      if (derived.projection) {
        const idOfLink = (name: string) => linkIds.get(name) ?? null;
        const references = referenceIds(resource, idOfLink, resources);
        typedRows.write(resource, derived.projection, references, runId);
        search.note(resource);
      }
      if (derived.items === null) {
        if (resource.isKnown && pages.isPage(resource.id)) {
          pages.writeMembers(resource, pages.collectionOf(resource.id), [], runId);
          if (!keepsChains) pages.cut(resource.id);
        }
      } else {
        const collectionId = pages.collectionOf(resource.id);
        if (resource.isKnown) search.noteItems(resource.id);
        const members = derived.items.map(({ url, kind, name, owned }, n) => {
          if (url === null) return { itemId: null, name };
          const item = ensure(url, kind, owned ? collectionId : null, `/collection/${n}/href`);
          search.note(item);
          return { itemId: item.id, name };
        });
        pages.writeMembers(resource, collectionId, members, runId);
        if (!keepsChains) {
          const chain = pages.writeNext(resource, collectionId, derived, runId);
          if (chain.hasNewPage) discovered++;
          if (chain.isLoop) issues.add(resource, { pointer: "/meta/next", code: "page-loop" }, runId);
        }
      }
      for (const issue of derived.issues) issues.add(resource, issue, runId);
      return discovered;
    },
  };
}

/** The owner of an entity is the linked one, or else that of the collection which lists the entity. */
export function referenceIds(
  resource: Pick<WrittenResource, "ownerId">,
  idOfLink: (name: string) => number | null,
  resources: Resources,
): ReferenceIds {
  return (entity: Entity) =>
    entity.references.map((name) => {
      const linkedId = idOfLink(name);
      if (linkedId !== null || name !== entity.owner) return linkedId;
      return resource.ownerId === null ? null : resources.ownerOf(resource.ownerId);
    });
}

function prepareIssues(db: Connection, keepsChains: boolean) {
  const insert = prepare(
    db,
    (p: { id: number; pointer: string; code: string; detail: string | null; run: number }) =>
      q
        .insertInto("_issue")
        .orIgnore()
        .values({ resource_id: p.id, pointer: p.pointer, code: p.code, detail: p.detail, run_id: p.run }),
  );
  const remove = prepare(db, (p: { id: number; keepsChains: 0 | 1 }) =>
    q
      .deleteFrom("_issue")
      .where("resource_id", "=", p.id)
      .where((eb) => eb.or([sql<SqlBool>`not ${p.keepsChains}`, eb("code", "not in", issuesOfReading)])),
  );
  const noteDrift = prepareDrift(db);
  return {
    add({ id, kind }: Pick<WrittenResource, "id" | "kind">, issue: DerivedIssue, run: number): void {
      const { pointer, code, detail = null } = issue;
      noteDrift(kind, issue, run);
      // `_link` has those of each resource.
      if (code !== "unknown-link") insert.run({ id, pointer, code, detail, run });
    },
    remove: (id: number) => void remove.run({ id, keepsChains: keepsChains ? 1 : 0 }),
  };
}
