/**
 * Computes everything that is derived from bodies anew, without a request, in one transaction: every revision in turn, as
 * if this version had read it then.
 */
import type { Connection } from "./connection.ts";
import { type DeriveContext, deriveHeldOrThrow } from "./derive.ts";
import type { Links } from "./links.ts";
import { readMeta, removeMeta } from "./meta.ts";
import type { Resources } from "./resources.ts";
import { eachRevision } from "./revisions.ts";
import { noSearchNotes, rebuildSearchIndex } from "./search-index.ts";
import { versionedTables } from "./versioned-tables.ts";
import { prepareDerivedWriter } from "./write-derived.ts";

export interface RebuildReport {
  readonly resources: number;
  /** Resources that the mirror learns of only now, because this version reads more than the one that fetched. */
  readonly discovered: number;
}

/** A migration leaves this in `_meta` where rows that it needs are in the bodies alone. */
const rebuildDue = "rebuild_due";

export function isRebuildDue(db: Connection): boolean {
  return readMeta(db, rebuildDue) !== null;
}

export function rebuildProjections(
  db: Connection,
  resources: Resources,
  links: Links,
  context: DeriveContext,
): RebuildReport {
  return db.transaction(() => {
    // What bodies link to was seen before it was gone: only an answer that is newer can revive it.
    const goneIds = db.prepare<[], number>("select id from _resource where state = 'gone'").pluck().all();
    // Whether a list makes one whole is judged from how it was read, not from one body.
    const verdicts = db.prepare("select * from _issue where code = 'partial-listing'").all();
    for (const { name } of versionedTables) db.exec(`delete from ${name}; delete from ${name}_past`);
    db.exec("delete from _issue where code <> 'page-loop'");
    const writer = prepareDerivedWriter(db, resources, links, noSearchNotes, { keepsChains: true });
    const heldIds = new Set<number>();
    let discovered = 0;
    for (const { resource, seq, fromRun, readBody } of eachRevision(db)) {
      const derived = deriveHeldOrThrow(readBody(), resource, context);
      discovered += writer.write({ ...resource, isKnown: seq > 1 }, derived, fromRun);
      heldIds.add(resource.id);
    }
    db.prepare(
      "update _resource set state = 'gone' where state = 'due' and id in (select value from json_each(?))",
    ).run(JSON.stringify(goneIds));
    const restore = db.prepare("insert into _issue values (:resource_id, :pointer, :code, :detail, :run_id)");
    for (const verdict of verdicts) restore.run(verdict);
    rebuildSearchIndex(db);
    removeMeta(db, rebuildDue);
    return { resources: heldIds.size, discovered };
  })();
}
