/**
 * Putting what was derived from a body into the mirror: discovered resources, links, pages and members, typed rows,
 * oddities. The same writing serves ingest and rebuild. Called inside a transaction.
 */
import type { Entity } from "../../../schema/rows-from-body.ts";
import type { Connection } from "../file/connection.ts";
import { prepareTypedRows, type ReferenceIds } from "../rows/typed-rows.ts";
import type { SearchNotes } from "../search/search-index.ts";
import type { Derived, DerivedIssue } from "./derive.ts";
import type { Links } from "./links.ts";
import { preparePages } from "./pages.ts";
import type { EnsuredResource, Resources, WrittenResource } from "./resources.ts";

export interface DerivedWriter {
  /** @returns how many resources the mirror did not know before */
  write(resource: WrittenResource, derived: Derived, runId: number): number;
}

/**
 * @param search is told of what may have other names now
 * @param keepsChains leaves each page's successor as it is: where a chain was cut depends on when it was read
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
  const insertIssue = db.prepare(
    "insert or ignore into _issue (resource_id, pointer, code, detail, run_id) values (?, ?, ?, ?, ?)",
  );
  // What is reported once for a kind stays, and where a chain was cut is known only to who cut it.
  const removeIssues = db.prepare(
    `delete from _issue where resource_id = ? and code not like 'unknown-%'${keepsChains ? " and code <> 'page-loop'" : ""}`,
  );
  const seenOnce = new Set(
    db
      .prepare<[], string>(
        "select r.kind || ' ' || i.pointer from _issue i join _resource r on r.id = i.resource_id where i.code like 'unknown-%'",
      )
      .pluck()
      .all(),
  );

  // An unknown field is news once for its kind, not once for each of 90,000 sizes.
  const isNews = (kind: string, issue: DerivedIssue): boolean => {
    if (!issue.code.startsWith("unknown-")) return true;
    const key = `${kind} ${issue.pointer}`;
    if (seenOnce.has(key)) return false;
    seenOnce.add(key);
    return true;
  };

  return {
    write(resource, derived, runId) {
      let discovered = 0;
      const report = (issue: DerivedIssue) => {
        if (isNews(resource.kind, issue))
          insertIssue.run(resource.id, issue.pointer, issue.code, issue.detail ?? null, runId);
      };
      const ensure = (
        url: string,
        kind: string,
        ownerId: number | null,
        pointer: string,
      ): EnsuredResource => {
        const found = resources.ensure(url, kind, ownerId, runId);
        if (found.isNew) discovered++;
        if (found.isAdopted && ownerId !== null) typedRows.adopt(found.id, resources.ownerOf(ownerId), runId);
        if (found.isRetyped) search.noteRetyped(found.id);
        if (found.hasConflict) report({ pointer, code: "kind-conflict" });
        return found;
      };

      if (resource.isKnown) removeIssues.run(resource.id);
      const linkIds = links.write(resource, derived.links, runId, (...target) => ensure(...target).id);
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
          if (chain.isLoop) report({ pointer: "/meta/next", code: "page-loop" });
        }
      }
      if (derived.projection) {
        const idOfLink = (name: string) => linkIds.get(name) ?? null;
        const references = referenceIds(resource, idOfLink, resources);
        typedRows.write(resource, derived.projection, references, runId);
        search.note(resource);
      }
      for (const issue of derived.issues) report(issue);
      return discovered;
    },
  };
}

/** Where an entity does not say whose it is, the collection that listed it does. */
export function referenceIds(
  resource: Pick<WrittenResource, "ownerId">,
  idOfLink: (name: string) => number | null,
  resources: Resources,
): ReferenceIds {
  return (entity: Entity) =>
    entity.references.map((name) => {
      const linked = idOfLink(name);
      if (linked !== null || name !== entity.owner) return linked;
      return resource.ownerId === null ? null : resources.ownerOf(resource.ownerId);
    });
}
