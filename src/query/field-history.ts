/** The fields of one resource at the end of any run, from its current and past rows in the typed tables. */
import { type EntityTable, entityTables } from "../../schema/entities/entity-tables.ts";
import { measurement } from "../../schema/entities/measurement.ts";
import type { Cell } from "../../schema/fields.ts";
import type { Connection } from "../mirror/file/connection.ts";
import { fromStored } from "../mirror/rows/cells.ts";

/** A field's value; for a list, which has a table of its own, its rows. */
export type FieldValue = Cell | readonly Readonly<Record<string, Cell>>[];

export type Fields = Readonly<Record<string, FieldValue>>;

/** Reads the fields just before a run, or the current ones for null. Null before the first row. */
export type FieldsBefore = (run: number | null) => Fields | null;

/** @param table the public name of the kind's table; lists are under the service's names */
export function readFieldHistory(db: Connection, table: string, resourceId: number): FieldsBefore {
  if (table === measurement.table) return readPayloadHistory(db, resourceId);
  const entity = entityTables.find((candidate) => candidate.table === table);
  if (entity === undefined) throw new Error(`no entity has the table ${table}`);
  const { names, selected } = columnsToRead(entity);
  const rows = readTimedRows(db, `_${table}`, "id", selected, resourceId);
  const lists = entity.lists.map((list) => ({
    ...list,
    rows: readTimedRows(db, `_${list.table}`, "parent_id", ["n", ...list.columns], resourceId),
  }));
  return (run) => {
    const [row] = rows.filter((candidate) => existsBefore(candidate, run));
    if (row === undefined) return null;
    const listFields = lists.map((list) => {
      const present = list.rows.filter((candidate) => existsBefore(candidate, run));
      const value = present.map(({ cells: [, ...cells] }) => toRecord(list.columns, cells));
      return [list.field, value.length === 0 ? null : value] as const;
    });
    return { ...toRecord(names, row.cells), ...Object.fromEntries(listFields) };
  };
}

/** A measurement has no fixed fields: its body is one field, `payload`, as in `showResource`. */
function readPayloadHistory(db: Connection, resourceId: number): FieldsBefore {
  const rows = readTimedRows(db, "_measurement", "parent_id", ["n", "payload"], resourceId);
  return (run) => {
    const present = rows.filter((row) => existsBefore(row, run));
    return { payload: joinMeasurements(present.map(({ cells: [, payload] }) => String(payload))) };
  };
}

/** References are read as URLs, under their names in the public views. */
function columnsToRead({ references, columns }: EntityTable): {
  names: readonly string[];
  selected: readonly string[];
} {
  return {
    names: [...references.map((name) => `${name}_href`), ...columns],
    selected: [
      ...references.map((name) => `(select url from main._resource where id = t.${name}_id)`),
      ...columns,
    ],
  };
}

interface TimedRow {
  readonly cells: readonly Cell[];
  readonly fromRun: bigint;
  /** Null for a current row. */
  readonly toRun: bigint | null;
}

/** Raw SQL: tables and columns by name. `main` skips the views of an as-of reader. */
function readTimedRows(
  db: Connection,
  table: string,
  key: string,
  selected: readonly string[],
  resourceId: number,
): TimedRow[] {
  const columns = selected.join(", ");
  const rows = db
    .prepare<[{ id: number }]>(
      `select from_run, null, ${columns} from main.${table} t where ${key} = :id
       union all select from_run, to_run, ${columns} from main.${table}_past t where ${key} = :id order by 3`,
    )
    .raw()
    .safeIntegers()
    .all({ id: resourceId }) as [bigint, bigint | null, ...unknown[]][];
  return rows.map(([fromRun, toRun, ...cells]) => ({ fromRun, toRun, cells: cells.map(fromStored) }));
}

function existsBefore({ fromRun, toRun }: TimedRow, run: number | null): boolean {
  if (run === null) return toRun === null;
  return fromRun < run && (toRun === null || toRun >= run);
}

function toRecord(names: readonly string[], cells: readonly Cell[]): Readonly<Record<string, Cell>> {
  return Object.fromEntries(names.map((name, n) => [name, cells[n] ?? null]));
}

/** The JSON text of one measurement, or a JSON array of all measurements at one URL. Null for none. */
export function joinMeasurements(payloads: readonly string[]): string | null {
  const [first = null, ...others] = payloads;
  return others.length === 0 ? first : `[${payloads.join(",")}]`;
}
