/**
 * Which resources may show other typed rows after one run than after another: so few, between two runs, that a diff need
 * not read the rest. In: a connection that does not show the past yet. Out: ids; more than those that differ, never fewer.
 */
import type { Connection } from "./connection.ts";
import { requireHistory } from "./snapshot.ts";
import { typedTables } from "./versioned-tables.ts";

/**
 * In any order.
 * @param oneRun, otherRun runs that have ended; 0 is before the first one
 * @returns a JSON array, for `showAsOf`
 * @throws MirrorError `older`
 */
export function idsBetween(db: Connection, oneRun: number, otherRun: number): string {
  requireHistory(db);
  const range = { low: Math.min(oneRun, otherRun), high: Math.max(oneRun, otherRun) };
  const run = (sql: string) => db.prepare<[typeof range]>(sql).run(range);
  db.exec("create temp table _between (id integer primary key)");
  for (const select of [statesIn, ...typedTables.flatMap(rowsIn)])
    run(`insert or ignore into temp._between ${select}`);
  // A size shows its model's brand, and needs the model for that.
  run(`insert or ignore into temp._between
    select id from ${sizes} where model_id in
      (select id from temp._between where ${brandAt("@low")} is not ${brandAt("@high")})`);
  run(`insert or ignore into temp._between
    select model_id from ${sizes} where model_id is not null and id in (select id from temp._between)`);
  const ids = db.prepare<[], string>("select json_group_array(id) from temp._between").pluck().get();
  db.exec("drop table temp._between");
  return ids ?? "[]";
}

const isIn = (column: string) => `(${column} > @low and ${column} <= @high)`;

const statesIn = `select id from main._resource_past where ${isIn("to_run")}`;

const rowsIn = ({ name, key }: { readonly name: string; readonly key: string }) => [
  `select ${key} from main.${name} where ${isIn("from_run")}`,
  `select ${key} from main.${name}_past where ${isIn("from_run")} or ${isIn("to_run")}`,
];

const sizes = "(select id, model_id from main._size union all select id, model_id from main._size_past)";

/** The brand of the model `_between.id`; null also for what is no model, or was not known. */
const brandAt = (run: string) => `(
  select brand_id from main._model where id = _between.id and from_run <= ${run}
  union all select brand_id from main._model_past
  where id = _between.id and from_run <= ${run} and to_run > ${run})`;
