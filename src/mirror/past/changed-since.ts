/**
 * Finds the resources whose typed rows may differ between two runs, so that a diff reads only these. The result may contain
 * resources without a difference, but never misses one. All SQL here is raw: temporary tables, and tables by name.
 */
import type { Connection } from "../file/connection.ts";
import { typedTables } from "../rows/versioned-rows.ts";

/**
 * Creates temporary tables of ids on the connection:
 *
 * - `_between<table>` for each typed table. An entity is also listed if one of its list rows may differ, and a size if the
 *   brand of its model may differ. `has_new_state` shows that the state of the resource itself changed after the earlier run.
 * - `_moved`: models with another brand, or with a brand that was unknown before.
 *
 * @param runA, runB runs that have ended, in any order; 0 is before the first one
 */
export function collectChangedIds(db: Connection, runA: number, runB: number): void {
  const [low = 0n, high = 0n] = [runA, runB].sort((a, b) => a - b).map(BigInt);
  const isBetween = (column: string) => `(${column} > ${low} and ${column} <= ${high})`;
  const addIds = (table: string, select: string) =>
    db.exec(`insert or ignore into temp._between${table} select id, id in temp._new_state from (${select})`);

  db.exec(`
    create temp table _new_state (id integer primary key);
    insert or ignore into temp._new_state select id from main._resource_past where to_run > ${low}`);
  for (const [main, ...lists] of typedTables) {
    if (main === undefined) continue;
    const { name, key } = main;
    createIdTable(db, name);
    addIds(name, `select ${key} as id from main.${name} where ${key} in temp._new_state`);
    for (const table of [main, ...lists]) {
      if (table !== main) createIdTable(db, table.name);
      addIds(table.name, `select ${table.key} as id from main.${table.name} where ${isBetween("from_run")}`);
      addIds(
        table.name,
        `select ${table.key} as id from main.${table.name}_past where ${isBetween("from_run")} or ${isBetween("to_run")}`,
      );
      if (table === main) continue;
      addIds(name, `select id from temp._between${table.name}`);
      // A resource that appears, disappears or reappears is shown with all its list rows.
      addIds(table.name, "select id from temp._new_state");
    }
  }
  db.exec(`
    create temp table _moved (id integer primary key);
    insert into temp._moved select id from temp._between_model where ${brandAt(low)} is not ${brandAt(high)}`);
  for (const sizes of ["_size", "_size_past"])
    addIds("_size", `select id from main.${sizes} where model_id in temp._moved`);
}

function createIdTable(db: Connection, table: string): void {
  db.exec(`create temp table _between${table} (id integer primary key, has_new_state integer not null)`);
}

/** SQL expression: the brand of the model `_between_model.id` after a run; null also if it was unknown. */
const brandAt = (run: bigint) => `(
  select brand_id from main._model where id = _between_model.id and from_run <= ${run}
  union all select brand_id from main._model_past
  where id = _between_model.id and from_run <= ${run} and to_run > ${run})`;

/**
 * The last run, up to `run`, in which a typed row begins or ends, or a resource disappears or reappears. Later runs changed
 * nothing, so a diff can skip them. The run itself may have changed nothing either, for example if a resource was gone before
 * it had a row. Null if there is no such run.
 */
export function lastChangedRun(db: Connection, run: number): number | null {
  const rowChanges = typedTables
    .flat()
    .flatMap(({ name }) => [
      `select max(from_run) from ${name} where from_run <= :run`,
      `select max(from_run) from ${name}_past where from_run <= :run`,
      `select max(to_run) from ${name}_past where to_run <= :run`,
    ]);
  const entities = typedTables.map(([main]) => `select ${main?.key} from ${main?.name}`).join(" union all ");
  // A new check of a tombstone changes its state, but not what the typed tables show.
  const tombstoneChanges = `select max(to_run) from (
      select p.to_run, p.gone_run, lead(p.gone_run, 1, r.gone_run) over (partition by p.id order by p.to_run) as next_gone_run
      from _resource_past p join _resource r on r.id = p.id where p.id in (${entities})
    ) where gone_run is not next_gone_run and to_run <= :run`;
  return (
    db
      .prepare<[{ run: number }], number | null>(
        `select nullif(max(run), 0) from (select 0 as run union all ${[...rowChanges, tombstoneChanges].join(" union all ")})`,
      )
      .pluck()
      .get({ run }) ?? null
  );
}
