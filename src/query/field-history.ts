/** What the fields of one resource were before each of some runs, from the typed rows that are remembered. */
import { measurement } from "../../schema/entities/measurement.ts";
import { entities } from "../../schema/entities.ts";
import type { Cell } from "../../schema/fields.ts";
import { columnsOf, type Entity } from "../../schema/rows-from-body.ts";
import type { Connection } from "../mirror/file/connection.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { joinMeasurements } from "./show.ts";

/** A field's value; for a list, which is a table of its own, the rows of it. */
export type FieldValue = Cell | readonly Readonly<Record<string, Cell>>[];

export type Fields = Readonly<Record<string, FieldValue>>;

interface TimedRow {
  readonly cells: readonly Cell[];
  readonly fromRun: bigint;
  /** Null for a row that still is. */
  readonly toRun: bigint | null;
}

/**
 * @param table the public name of its kind
 * @returns gives the fields, lists under the service's names, as they were just before a run, or as they are; null where
 *   there were none yet
 */
export function readFieldHistory(
  db: Connection,
  table: string,
  resourceId: number,
): (beforeRun: number | null) => Fields | null {
  if (table === measurement.table) return readPayloadHistory(db, resourceId);
  const entity = entities.find((one) => one.table === table);
  if (entity === undefined) throw new Error(`there is no table of ${table}`);
  const { names, selected } = columnsToRead(entity);
  const rows = readTimedRows(db, `_${table}`, "id", selected, resourceId);
  const lists = entity.lists.map((list) => ({
    ...list,
    rows: readTimedRows(db, `_${list.table}`, "parent_id", ["n", ...list.columns], resourceId),
  }));
  return (beforeRun) => {
    const [row] = rows.filter((one) => isOf(one, beforeRun));
    if (row === undefined) return null;
    const listed = lists.map((list) => {
      const present = list.rows.filter((one) => isOf(one, beforeRun));
      const value = present.map(({ cells: [, ...cells] }) => recordOf(list.columns, cells));
      return [list.field, value.length === 0 ? null : value] as const;
    });
    return { ...recordOf(names, row.cells), ...Object.fromEntries(listed) };
  };
}

/** Of measurements, whose shape is not known: `payload`, as `show` has it. */
function readPayloadHistory(db: Connection, resourceId: number): (beforeRun: number | null) => Fields {
  const rows = readTimedRows(db, "_measurement", "parent_id", ["n", "payload"], resourceId);
  return (beforeRun) => {
    const present = rows.filter((one) => isOf(one, beforeRun));
    return { payload: joinMeasurements(present.map(({ cells: [, payload] }) => String(payload))) };
  };
}

/** References are shown as URLs, under the names that they have in the public tables. */
function columnsToRead(entity: Entity): { names: readonly string[]; selected: readonly string[] } {
  const { references } = entity;
  const columns = columnsOf(entity);
  return {
    names: [...references.map((name) => `${name}_href`), ...columns],
    selected: [
      ...references.map((name) => `(select url from main._resource where id = t.${name}_id)`),
      ...columns,
    ],
  };
}

function readTimedRows(
  db: Connection,
  table: string,
  key: string,
  selected: readonly string[],
  resourceId: number,
): TimedRow[] {
  const columns = selected.join(", ");
  const rows = db
    .prepare<[number, number]>(
      `select from_run, null, ${columns} from main.${table} t where ${key} = ?
       union all select from_run, to_run, ${columns} from main.${table}_past t where ${key} = ? order by 3`,
    )
    .raw()
    .safeIntegers()
    .all(resourceId, resourceId) as [bigint, bigint | null, ...unknown[]][];
  return rows.map(([fromRun, toRun, ...cells]) => ({ fromRun, toRun, cells: cells.map(fromStored) }));
}

function isOf({ fromRun, toRun }: TimedRow, beforeRun: number | null): boolean {
  if (beforeRun === null) return toRun === null;
  return fromRun < beforeRun && (toRun === null || toRun >= beforeRun);
}

function recordOf(names: readonly string[], cells: readonly Cell[]): Readonly<Record<string, Cell>> {
  return Object.fromEntries(names.map((name, n) => [name, cells[n] ?? null]));
}
