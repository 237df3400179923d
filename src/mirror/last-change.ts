/** Where what changed last begins: runs that changed nothing are passed over. In: the mirror. Out: a run that has ended. */
import type { Connection } from "./connection.ts";
import { requireHistory } from "./require-derived.ts";
import { type EndedRun, readEndedRun, runBefore } from "./resolve-point.ts";
import { typedTables } from "./versioned-tables.ts";

/**
 * The last run before the newest one, up to `run`, that changed what analysts read; where that was the first run, it itself,
 * as nothing has changed since. Null where `run` is the first.
 * @param run one that has ended
 * @throws MirrorError `older`
 */
export function runBeforeLastChange(db: Connection, run: number): EndedRun | null {
  requireHistory(db);
  const changed = lastChange(db, run);
  if (changed === null) return runBefore(db, run);
  return runBefore(db, changed) ?? (changed < run ? readEndedRun(db, changed) : null);
}

/** A typed row that begins or ends, or an entity that is gone or back. */
function lastChange(db: Connection, run: number): number | null {
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
