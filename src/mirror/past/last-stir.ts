/** When what analysts read may have changed last: runs that cannot have changed anything are passed over without a diff. */
import type { Connection } from "../file/connection.ts";
import { requireHistory } from "../rows/require-derived.ts";
import { typedTables } from "../rows/versioned-tables.ts";

/**
 * The last run, up to `run`, in which a typed row begins or ends, or something is gone or back: none after it has changed
 * anything, and it may have changed nothing either, as where a resource was gone before it ever had a row. Null where there
 * is none.
 * @throws MirrorError `older`
 */
export function lastStir(db: Connection, run: number): number | null {
  requireHistory(db);
  const moments = typedTables
    .flat()
    .flatMap(({ name }) => [
      `select max(from_run) from ${name} where from_run <= :run`,
      `select max(from_run) from ${name}_past where from_run <= :run`,
      `select max(to_run) from ${name}_past where to_run <= :run`,
    ]);
  const entities = typedTables.map(([main]) => `select ${main?.key} from ${main?.name}`).join(" union all ");
  // Asking for a tombstone once more changes its state, and nothing that anybody reads.
  const tombstones = `select max(to_run) from (
      select p.to_run, p.gone_run, lead(p.gone_run, 1, r.gone_run) over (partition by p.id order by p.to_run) as next_gone_run
      from _resource_past p join _resource r on r.id = p.id where p.id in (${entities})
    ) where gone_run is not next_gone_run and to_run <= :run`;
  return (
    db
      .prepare<[{ run: number }], number | null>(
        `select nullif(max(run), 0) from (select 0 as run union all ${[...moments, tombstones].join(" union all ")})`,
      )
      .pluck()
      .get({ run }) ?? null
  );
}
