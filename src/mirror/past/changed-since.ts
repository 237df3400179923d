/**
 * Which resources may show other typed rows after one run than after another: so few, between two runs, that a diff need
 * not read the rest. In: a connection, and two runs. Out: temporary tables of ids on it; more than those that differ, never
 * fewer.
 *
 * - `_between<table>`, by the name of each typed table: whose rows in it may differ, an entity's with its lists, and a size's
 *   with its model, whose brand it shows. `is_stirred` says that the resource itself was in another state since the earlier run.
 * - `_moved`: models of which another brand is known, or was not known before.
 */
import type { Connection } from "../file/connection.ts";
import { typedTables } from "../rows/versioned-rows.ts";

/**
 * @param oneRun, otherRun runs that have ended, in any order; 0 is before the first one
 */
export function collectChangedIds(db: Connection, oneRun: number, otherRun: number): void {
  const [low = 0n, high = 0n] = [oneRun, otherRun].sort((one, other) => one - other).map(BigInt);
  const isIn = (column: string) => `(${column} > ${low} and ${column} <= ${high})`;
  const note = (table: string, ids: string) =>
    db.exec(`insert or ignore into temp._between${table} select id, id in temp._stirred from (${ids})`);

  db.exec(`
    create temp table _stirred (id integer primary key);
    insert or ignore into temp._stirred select id from main._resource_past where to_run > ${low}`);
  for (const [main, ...lists] of typedTables) {
    if (main === undefined) continue;
    const { name, key } = main;
    make(db, name);
    note(name, `select ${key} as id from main.${name} where ${key} in temp._stirred`);
    for (const table of [main, ...lists]) {
      if (table !== main) make(db, table.name);
      note(table.name, `select ${table.key} as id from main.${table.name} where ${isIn("from_run")}`);
      note(
        table.name,
        `select ${table.key} as id from main.${table.name}_past where ${isIn("from_run")} or ${isIn("to_run")}`,
      );
      if (table === main) continue;
      note(name, `select id from temp._between${table.name}`);
      // What comes, goes or comes back is shown whole.
      note(table.name, "select id from temp._stirred");
    }
  }
  db.exec(`
    create temp table _moved (id integer primary key);
    insert into temp._moved select id from temp._between_model where ${brandAt(low)} is not ${brandAt(high)}`);
  for (const sizes of ["_size", "_size_past"])
    note("_size", `select id from main.${sizes} where model_id in temp._moved`);
}

function make(db: Connection, table: string): void {
  db.exec(`create temp table _between${table} (id integer primary key, is_stirred integer not null)`);
}

/** The brand of the model `_between_model.id`; null also where it was not known. */
const brandAt = (run: bigint) => `(
  select brand_id from main._model where id = _between_model.id and from_run <= ${run}
  union all select brand_id from main._model_past
  where id = _between_model.id and from_run <= ${run} and to_run > ${run})`;

/** When what analysts read may have changed last: runs that cannot have changed anything are passed over without a diff. */

/**
 * The last run, up to `run`, in which a typed row begins or ends, or something is gone or back: none after it has changed
 * anything, and it may have changed nothing either, as where a resource was gone before it ever had a row. Null where there
 * is none.
 */
export function lastChangedRun(db: Connection, run: number): number | null {
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
