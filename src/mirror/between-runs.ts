/**
 * Which resources may show other typed rows after one run than after another: so few, between two runs, that a diff need
 * not read the rest. In: a connection that does not show the past yet. Out: ids; more than those that differ, never fewer.
 */
import type { Connection } from "./connection.ts";
import { requireHistory } from "./require-derived.ts";
import type { ShownIds } from "./snapshot.ts";
import type { VersionedTable } from "./versioned-rows.ts";
import { typedTables } from "./versioned-tables.ts";

/**
 * An entity is shown with its lists, and a size with its model, whose brand it shows.
 * @param oneRun, otherRun runs that have ended, in any order; 0 is before the first one
 * @throws MirrorError `older`
 */
export function idsBetween(db: Connection, oneRun: number, otherRun: number): ShownIds {
  requireHistory(db);
  const [low = 0n, high = 0n] = [oneRun, otherRun].sort((one, other) => one - other).map(BigInt);
  const isIn = (column: string) => `(${column} > ${low} and ${column} <= ${high})`;
  const note = (table: string, select: string) =>
    db.exec(`insert or ignore into temp._between${table} ${select}`);

  make(db, "_resource", `select id from main._resource_past where ${isIn("to_run")}`);
  for (const [main, ...lists] of typedTables) {
    if (main === undefined) continue;
    make(
      db,
      main.name,
      `select ${main.key} from main.${main.name} where ${main.key} in ${noted("_resource")}`,
    );
    for (const { name, key } of [main, ...lists]) {
      note(main.name, `select ${key} from main.${name} where ${isIn("from_run")}`);
      note(main.name, `select ${key} from main.${name}_past where ${isIn("from_run")} or ${isIn("to_run")}`);
    }
  }
  const hasMoved = `${brandAt(low)} is not ${brandAt(high)}`;
  note(
    "_size",
    `select id from ${sizes} where model_id in (select id from temp._between_model where ${hasMoved})`,
  );
  note("_model", `select model_id from ${sizes} where id in ${noted("_size")} and model_id is not null`);

  const idsOf = ([main]: readonly VersionedTable[]) =>
    db.prepare<[], string>(`select json_group_array(id) from temp._between${main?.name}`).pluck().get() ??
    "[]";
  return Object.fromEntries(
    typedTables.flatMap((tables) => {
      const ids = idsOf(tables);
      return tables.map(({ name }) => [name, ids]);
    }),
  );
}

function make(db: Connection, table: string, select: string): void {
  db.exec(`create temp table _between${table} (id integer primary key)`);
  db.exec(`insert or ignore into temp._between${table} ${select}`);
}

const noted = (table: string) => `(select id from temp._between${table})`;

const sizes = "(select id, model_id from main._size union all select id, model_id from main._size_past)";

/** The brand of the model `_between_model.id`; null also where it was not known. */
const brandAt = (run: bigint) => `(
  select brand_id from main._model where id = _between_model.id and from_run <= ${run}
  union all select brand_id from main._model_past
  where id = _between_model.id and from_run <= ${run} and to_run > ${run})`;
