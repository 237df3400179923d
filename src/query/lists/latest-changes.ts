/** The newest changes of brands, models and sizes, for a glance. Raw SQL: a union over the revisions of the last runs. */
import { isoTimeOf } from "../../../schema/tables.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { fromStored } from "../../mirror/rows/cells.ts";
import { listRuns } from "../../mirror/runs/run-log.ts";

export interface LatestChange {
  readonly kind: string;
  readonly href: string;
  readonly name: string | null;
  /** The name of a size's model, or of a model's brand. */
  readonly of: string | null;
  readonly what: "new" | "changed" | "gone";
  readonly run: number;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** @param kinds those with a page @param limit at most this many, the newest first */
export function readLatestChanges(
  mirror: MirrorReader,
  kinds: readonly string[],
  limit: number,
): LatestChange[] {
  const rows = mirror.db
    .prepare<object, Omit<LatestChange, "name" | "of"> & Record<"name" | "of", unknown>>(
      `with latest as materialized (
         select r.id, r.kind, r.url, v.from_run as run, v.fetched_at as millis, iif(v.seq = 1, 'new', 'changed') as what
         from _revision v cross join _resource r on r.id = v.resource_id
         where v.from_run >= :since and r.kind in (select value from json_each(:kinds))
         union all
         select r.id, r.kind, r.url, r.gone_run, null, 'gone' from _resource r
         where r.kind in (select value from json_each(:kinds)) and r.state = 'gone' and r.gone_run >= :since
         order by 4 desc, 5 desc, 1 limit :limit)
       select l.kind, l.url as href, l.run, l.what,
         iif(l.what = 'gone', g.started_at, ${isoTimeOf("l.millis")}) as at,
         coalesce(b.name, m.full_name, m.name, s.size) as name, coalesce(model.full_name, model.name, brand.name) as "of"
       from latest l join _run g on g.id = l.run
       left join _brand b on b.id = l.id left join _model m on m.id = l.id left join _size s on s.id = l.id
       left join _model model on model.id = s.model_id left join _brand brand on brand.id = m.brand_id
       order by l.run desc, l.millis desc, l.id`,
    )
    .all({ kinds: JSON.stringify(kinds), limit, since: firstRunToRead(mirror, limit) });
  return rows.map((row) => ({ ...row, name: textOf(row.name), of: textOf(row.of) }));
}

function textOf(stored: unknown): string | null {
  const cell = fromStored(stored);
  return typeof cell === "string" ? cell : null;
}

/** The newest runs that have stored enough: no index leads from a run to its revisions, and old ones are many. */
function firstRunToRead(mirror: MirrorReader, limit: number): number {
  let stored = 0;
  for (const { id, counts } of listRuns(mirror, maxRunsToRead, false)) {
    const { new: added = 0, changed = 0, gone = 0 } = counts?.resources ?? {};
    stored += (added ?? 0) + (changed ?? 0) + (gone ?? 0);
    // Lists count as well, and have no page.
    if (stored >= 4 * limit) return id;
  }
  return 0;
}

const maxRunsToRead = 30;
