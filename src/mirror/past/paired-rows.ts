/**
 * Typed rows as they were after two runs, side by side. In: a connection on which `noteBetween` has noted what may differ.
 * Out: rows in the order of URLs, in which a cell that is the same in both is null: what is the same is most of it, and
 * to read it would take most of the time. It must not judge what a change is.
 */
import { model } from "../../../schema/entities/model.ts";
import type { Entity } from "../../../schema/rows-from-body.ts";
import type { Connection } from "../file/connection.ts";
import { entityTable, type VersionedTable } from "../rows/versioned-rows.ts";
import { rowsAt, stateAt } from "./as-of.ts";

/** Runs that have ended; 0 is before the first one. */
export interface TwoRuns {
  readonly before: number;
  readonly after: number;
}

/**
 * The rows of an entity. Each is its URL; whether it is there before, and after, as 0n or 1n; since when it is gone before, and
 * after; and for each column what was there before and what after, as stored.
 * @param columns as the entity's view names them
 * @param kept those of which both are given also where they are the same
 */
export function pairedRows(
  db: Connection,
  entity: Entity,
  columns: readonly string[],
  kept: readonly string[],
  runs: TwoRuns,
): Iterable<unknown[]> {
  const table = `_${entity.table}`;
  const newest = db.prepare<[], number | null>("select max(id) from main._run").pluck().get() ?? 0;
  const before = sideAt(table, "before", runs.before, runs.before >= newest);
  const after = sideAt(table, "after", runs.after, runs.after >= newest);
  const cells = columns.flatMap((column) => {
    const [one, other] = [before, after].map((side) => shown(entity, column, side));
    if (kept.includes(column)) return [one, other];
    const isSame = `(not c.is_stirred and ${isTheSame(entity, column, before, after)})`;
    return [one, other].map((value) => `iif(${isSame}, null, ${value})`);
  });
  const exists = [before, after].map(({ cell }) => `${cell("id")} is not null`);
  const gone = [before, after].map(({ goneAt }) => goneAt);
  const sql = `select r.url, ${[...exists, ...gone, ...cells].join(", ")}
    from temp._between${table} c cross join main._resource r on r.id = c.id ${before.joins} ${after.joins}
    order by r.url`;
  return db.prepare(sql).raw().safeIntegers().iterate() as Iterable<unknown[]>;
}

/** Rows of a list's table at one run: the URL of the resource that has the list, the position, and the table's columns. */
export function listRowsAt(db: Connection, table: VersionedTable, run: number): Iterable<unknown[]> {
  const rows = rowsAt(table, run, `${table.key} in (select id from temp._between${table.name})`);
  const columns = ["n", ...table.columns].map((column) => `t.${column}`).join(", ");
  const sql = `select r.url, ${columns} from (${rows}) t cross join main._resource r on r.id = t.${table.key}
    order by r.url, t.n`;
  return db.prepare(sql).raw().safeIntegers().iterate() as Iterable<unknown[]>;
}

/** The state of `c.id` after one of the two runs, as SQL. */
interface Side {
  readonly run: number;
  readonly joins: string;
  readonly goneAt: string;
  cell(column: string): string;
}

function sideAt(table: string, name: string, run: number, isNewest: boolean): Side {
  const goneRun = `iif(c.is_stirred, ${stateAt("gone_run", run)}, r.gone_run)`;
  const goneAt = `(select started_at from main._run where id = ${goneRun})`;
  // Nothing was there later: no row of the past can be what was there then.
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

/** What the view shows in a column. */
function shown({ references }: Entity, column: string, { run, cell }: Side): string {
  const reference = column.replace(/_href$/, "");
  if (reference === column) return cell(column);
  // Of a size, which has its model's brand.
  const id = references.includes(reference)
    ? cell(`${reference}_id`)
    : `(select ${reference}_id from (${rowsAt(entityTable(model), run)}) where id = ${cell("model_id")})`;
  return `(select url from main._resource where id = ${id})`;
}

/** Cells are the same where SQLite says so: what it would confuse, as 0 and -0, is never kept as a number (`toCell`). */
function isTheSame({ references }: Entity, column: string, before: Side, after: Side): string {
  const same = (name: string) => `${before.cell(name)} is ${after.cell(name)}`;
  const reference = column.replace(/_href$/, "");
  if (reference === column) return same(column);
  if (references.includes(reference)) return same(`${reference}_id`);
  return `(${same("model_id")} and ${after.cell("model_id")} not in temp._moved)`;
}
