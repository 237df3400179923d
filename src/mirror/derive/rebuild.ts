/**
 * Computes everything that is derived from bodies anew, without a request, in one transaction: every revision in turn, as
 * if this version had read it then.
 */
import type { Area } from "../../../schema/kind.ts";
import { eachRevision } from "../bodies/read-revisions.ts";
import type { Connection } from "../file/connection.ts";
import { versionedTables } from "../rows/versioned-rows.ts";
import { noSearchNotes, rebuildSearchIndex } from "../search/search-index.ts";
import { prepareDerivations } from "./derivations.ts";
import { type DeriveContext, deriveHeldOrThrow } from "./derive.ts";
import { prepareLinks } from "./links.ts";
import { prepareResources } from "./resources.ts";
import { prepareDerivedWriter } from "./write-derived.ts";

export interface RebuildReport {
  readonly resources: number;
  /** Resources that the mirror learns of only now, because this version reads more than the one that fetched. */
  readonly discovered: number;
}

export function rebuildProjections(db: Connection, area: Area, context: DeriveContext): RebuildReport {
  return db.transaction(() => {
    const resources = prepareResources(db, context.kinds, area, { isRereading: true });
    const links = prepareLinks(db, resources);
    // Whether a list makes one whole is judged from how it was read, not from one body.
    const verdicts = db.prepare("select * from _issue where code = 'partial-listing'").all();
    const readingsOf = prepareDerivations(db);
    for (const { name } of versionedTables) db.exec(`delete from ${name}; delete from ${name}_past`);
    db.exec("delete from _issue where code <> 'page-loop'");
    const writer = prepareDerivedWriter(db, resources, links, noSearchNotes, { keepsChains: true });
    const heldIds = new Set<number>();
    let discovered = 0;
    for (const revision of eachRevision(db)) {
      const { seq } = revision;
      const body = revision.readBody();
      for (const [n, { run, ...standing }] of readingsOf(revision).entries()) {
        const resource = { ...revision.resource, ...standing, isKnown: seq > 1 || n > 0 };
        discovered += writer.write(resource, deriveHeldOrThrow(body, resource, context), run);
      }
      heldIds.add(revision.resource.id);
    }
    const restore = db.prepare("insert into _issue values (:resource_id, :pointer, :code, :detail, :run_id)");
    for (const verdict of verdicts) restore.run(verdict);
    rebuildSearchIndex(db);
    return { resources: heldIds.size, discovered };
  })();
}
