/** Derives everything again from the stored bodies, in one transaction and without a request. */
import { sql } from "kysely";
import type { Area } from "../../../schema/kind.ts";
import { eachRevision } from "../bodies/read-revisions.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { versionedTables } from "../rows/versioned-rows.ts";
import { noSearchNotes, rebuildSearchIndex } from "../search/search-index.ts";
import { prepareDerivations } from "./derivations.ts";
import { type DeriveContext, type Derived, deriveHeldOrThrow } from "./derive.ts";
import { prepareLinks } from "./links.ts";
import { prepareResources, type Resources } from "./resources.ts";
import { issuesOfReading, prepareDerivedWriter } from "./write-derived.ts";

export interface RebuildReport {
  /** The number of resources with a body. */
  readonly resources: number;
  /**
   * Resources that the mirror did not know, since an earlier version of the program derived less from the same
   * bodies.
   */
  readonly discovered: number;
}

/** Derives every revision in the order and with the run of its first derivation. */
export function rebuildProjections(db: Connection, area: Area, context: DeriveContext): RebuildReport {
  return db.transaction(() => {
    // Old bodies say nothing new.
    const resources = prepareResources(db, context.kinds, area, { revives: () => false });
    const links = prepareLinks(db, resources);
    const derivationsOf = prepareDerivations(db);
    prepare(db, () => q.deleteFrom("_issue").where("code", "not in", issuesOfReading)).run();
    for (const { name } of versionedTables) db.exec(`delete from ${name}; delete from ${name}_past`);
    const writer = prepareDerivedWriter(db, resources, links, noSearchNotes, { keepsChains: true });
    const restorePage = prepareRestorePage(db, resources);
    const heldIds = new Set<number>();
    let discovered = 0;
    for (const revision of eachRevision(db)) {
      const body = revision.readBody();
      for (const [n, { run, ...classification }] of derivationsOf(revision).entries()) {
        const resource = { ...revision.resource, ...classification, isKnown: revision.seq > 1 || n > 0 };
        const derived = deriveHeldOrThrow(body, resource, context);
        discovered += writer.write(resource, derived, run);
        if (revision.nextRun === null) restorePage(resource.id, factsOf(derived));
      }
      heldIds.add(revision.resource.id);
    }
    rebuildSearchIndex(db);
    return { resources: heldIds.size, discovered };
  })();
}

type PageFacts = Pick<Derived, "nextUrl" | "collectionTotal" | "pageTotal">;

/** A former page that is no list any more leads nowhere. */
const factsOf = ({ items, nextUrl, collectionTotal, pageTotal }: Derived): PageFacts =>
  items === null
    ? { nextUrl: null, collectionTotal: null, pageTotal: null }
    : { nextUrl, collectionTotal, pageTotal };

/** Makes what is stored about a page match its last body again. A chain that was cut there stays cut. */
function prepareRestorePage(db: Connection, resources: Resources): (id: number, facts: PageFacts) => void {
  interface Restored {
    id: number;
    nextId: number | null;
    total: number | null;
    pageTotal: number | null;
  }
  const restore = prepare(db, (p: Restored) =>
    q
      .updateTable("_page")
      .set({
        next_id: sql<number | null>`iif(next_id is null and exists (
          select 1 from _issue where resource_id = _page.id and code = 'page-loop'), null, ${p.nextId})`,
        total: p.total,
        page_total: p.pageTotal,
      })
      .where("id", "=", p.id),
  );
  return (id, { nextUrl, collectionTotal: total, pageTotal }) => {
    const nextId = resources.find(nextUrl ?? "")?.id ?? null;
    restore.run({ id, nextId, total, pageTotal });
  };
}
