/** Derives everything again from the stored bodies, in one transaction and without a request. */
import type { Area } from "../../../schema/kind.ts";
import { eachRevision } from "../bodies/read-revisions.ts";
import type { Connection } from "../file/connection.ts";
import { prepare, q } from "../file/statements.ts";
import { versionedTables } from "../rows/versioned-rows.ts";
import { noSearchNotes, rebuildSearchIndex } from "../search/search-index.ts";
import { prepareDerivations } from "./derivations.ts";
import { type DeriveContext, deriveHeldOrThrow } from "./derive.ts";
import { prepareLinks } from "./links.ts";
import { prepareResources } from "./resources.ts";
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
    const resources = prepareResources(db, context.kinds, area, { isRereading: true });
    const links = prepareLinks(db, resources);
    const derivationsOf = prepareDerivations(db);
    prepare(db, () => q.deleteFrom("_issue").where("code", "not in", issuesOfReading)).run();
    for (const { name } of versionedTables) db.exec(`delete from ${name}; delete from ${name}_past`);
    const writer = prepareDerivedWriter(db, resources, links, noSearchNotes, { keepsChains: true });
    const heldIds = new Set<number>();
    let discovered = 0;
    for (const revision of eachRevision(db)) {
      const body = revision.readBody();
      for (const [n, { run, ...classification }] of derivationsOf(revision).entries()) {
        const resource = { ...revision.resource, ...classification, isKnown: revision.seq > 1 || n > 0 };
        discovered += writer.write(resource, deriveHeldOrThrow(body, resource, context), run);
      }
      heldIds.add(revision.resource.id);
    }
    rebuildSearchIndex(db);
    return { resources: heldIds.size, discovered };
  })();
}
