/**
 * Reads typed rows after two runs, side by side. In: a connection on which `collectChangedIds` has created its tables. Out:
 * rows in the order of URLs. Equal cells are null on both sides: most cells are equal, and reading them would take most of
 * the time. All SQL here is raw: tables and columns by name.
 */
import type { EntityTable } from "../../../schema/entities/entity-tables.ts";
import type { Connection } from "../file/connection.ts";
import { entityTable, type VersionedTable } from "../rows/versioned-rows.ts";
import { rowsAt, stateAt } from "./as-of.ts";

/** Runs that have ended; 0 is before the first one. */
export interface TwoRuns {
  readonly before: number;
  readonly after: number;
}

/**
 * Reads the rows of an entity. Each contains its URL; whether the row exists before and after, as 0n or 1n; the times at which
 * it was gone before and after; and for each column the stored values before and after.
 * @param columns as named in the entity's view
 * @param alwaysRead columns whose values are returned even if they are equal
 */
export function pairedRows(
  db: Connection,
  entity: EntityTable,
  columns: readonly string[],
  alwaysRead: readonly string[],
  runs: TwoRuns,
): Iterable<unknown[]> {
  const table = `_${entity.table}`;
  const newest = db.prepare<[], number | null>("select max(id) from main._run").pluck().get() ?? 0;
  const before = sideAt(table, "before", runs.before, runs.before >= newest);
  const after = sideAt(table, "after", runs.after, runs.after >= newest);
  const cells = columns.flatMap((column) => {
    const values = [before, after].map((side) => valueAt(entity, column, side));
    if (alwaysRead.includes(column)) return values;
    const isEqual = `(not c.has_new_state and ${isEqualOnBothSides(entity, column, before, after)})`;
    return values.map((value) => `iif(${isEqual}, null, ${value})`);
  });
  const exists = [before, after].map(({ cell }) => `${cell("id")} is not null`);
  const gone = [before, after].map(({ goneAt }) => goneAt);
  const sql = `select r.url, ${[...exists, ...gone, ...cells].join(", ")}
    from temp._between${table} c cross join main._resource r on r.id = c.id ${before.joins} ${after.joins}
    order by r.url`;
  return db.prepare(sql).raw().safeIntegers().iterate() as Iterable<unknown[]>;
}

/** Reads the rows of a list table after a run. Each contains the URL of its resource, the position, and the columns. */
export function listRowsAt(db: Connection, table: VersionedTable, run: number): Iterable<unknown[]> {
  const rows = rowsAt(table, run, `${table.key} in (select id from temp._between${table.name})`);
  const columns = ["n", ...table.columns].map((column) => `t.${column}`).join(", ");
  const sql = `select r.url, ${columns} from (${rows}) t cross join main._resource r on r.id = t.${table.key}
    order by r.url, t.n`;
  return db.prepare(sql).raw().safeIntegers().iterate() as Iterable<unknown[]>;
}

/** SQL for the row of the resource `c.id` after one of the two runs. */
interface Side {
  readonly run: number;
  readonly joins: string;
  readonly goneAt: string;
  cell(column: string): string;
}

function sideAt(table: string, name: string, run: number, isNewest: boolean): Side {
  const goneRun = `iif(c.has_new_state, ${stateAt("gone_run", run)}, r.gone_run)`;
  const goneAt = `(select started_at from main._run where id = ${goneRun})`;
  // After the newest run, the current rows are the valid ones.
  if (isNewest) {
    const joins = `left join main.${table} ${name} on ${name}.id = c.id`;
    return { run, joins, goneAt, cell: (column) => `${name}.${column}` };
  }
  const past = `${name}_past`;
  const joins = `left join main.${table} ${name} on ${name}.id = c.id and ${name}.from_run <= ${run}
    left join main.${table}_past ${past} on ${past}.id = c.id and ${past}.from_run <= ${run} and ${past}.to_run > ${run}`;
  return {
    run,
    joins,
    goneAt,
    cell: (column) => `iif(${past}.id is null, ${name}.${column}, ${past}.${column})`,
  };
}

/** SQL expression: the value of a column as the entity's view shows it. */
function valueAt({ references }: EntityTable, column: string, { run, cell }: Side): string {
  const reference = column.replace(/_href$/, "");
  if (reference === column) return cell(column);
  // The brand of a size is the brand of its model.
  const id = references.includes(reference)
    ? cell(`${reference}_id`)
    : `(select ${reference}_id from (${rowsAt(entityTable("model"), run)}) where id = ${cell("model_id")})`;
  return `(select url from main._resource where id = ${id})`;
}

/** SQL condition. Values that SQLite would confuse, such as 0 and -0, are never stored as numbers (`toCell`). */
function isEqualOnBothSides({ references }: EntityTable, column: string, before: Side, after: Side): string {
  const isEqual = (name: string) => `${before.cell(name)} is ${after.cell(name)}`;
  const reference = column.replace(/_href$/, "");
  if (reference === column) return isEqual(column);
  if (references.includes(reference)) return isEqual(`${reference}_id`);
  return `(${isEqual("model_id")} and ${after.cell("model_id")} not in temp._moved)`;
}
