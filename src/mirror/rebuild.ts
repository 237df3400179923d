/** Computes everything that is derived from bodies anew, without a request, in one transaction. */
import { entities, listTables } from "../../schema/entities.ts";
import type { Connection } from "./connection.ts";
import { eachCurrentBody } from "./current-bodies.ts";
import { type DeriveContext, deriveHeldOrThrow } from "./derive.ts";
import type { Links } from "./links.ts";
import type { Resources } from "./resources.ts";
import { prepareDerivedWriter } from "./write-derived.ts";

export interface RebuildReport {
  readonly resources: number;
  /** Resources that the mirror learns of only now, because this version reads more than the one that fetched. */
  readonly discovered: number;
}

export function rebuildProjections(
  db: Connection,
  resources: Resources,
  links: Links,
  context: DeriveContext,
): RebuildReport {
  return db.transaction(() => {
    // What is found only now is noted under the last run, which is when it was fetched at the latest.
    const runId = db.prepare<[], number>("select max(id) from _run").pluck().get() ?? 0;
    // What bodies link to was seen before it was gone: only an answer that is newer can revive it.
    const goneIds = db.prepare<[], number>("select id from _resource where state = 'gone'").pluck().all();
    // Whether a list makes one whole is judged from how it was read, not from one body.
    const verdicts = db.prepare("select * from _issue where code = 'partial-listing'").all();
    const derivedTables = [...entities, ...listTables].map(({ table }) => `_${table}`);
    for (const table of [...derivedTables, "_link", "_member"]) db.exec(`delete from ${table}`);
    db.exec("delete from _issue where code <> 'page-loop'");
    const writer = prepareDerivedWriter(db, resources, links, { keepsChains: true });
    const report = { resources: 0, discovered: 0 };
    for (const { resource, readBody } of eachCurrentBody(db)) {
      const derived = deriveHeldOrThrow(readBody(), resource, context);
      report.discovered += writer.write({ ...resource, isKnown: true }, derived, runId);
      report.resources++;
    }
    db.prepare(
      "update _resource set state = 'gone' where state = 'due' and id in (select value from json_each(?))",
    ).run(JSON.stringify(goneIds));
    const restore = db.prepare("insert into _issue values (:resource_id, :pointer, :code, :detail, :run_id)");
    for (const verdict of verdicts) restore.run(verdict);
    return report;
  })();
}
