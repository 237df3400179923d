/**
 * Tables of rows that are derived from resources, with their former rows in `<table>_past`: each with the run since
 * which it was valid and the run that ended it. A row that no closed run has seen is not kept. Only this file writes
 * such tables, so that no change goes unrecorded.
 */
import { entityTables } from "../../../schema/entities/entity-tables.ts";
import { measurement } from "../../../schema/entities/measurement.ts";
import type { ListTable } from "../../../schema/rows-from-body.ts";
import type { Connection } from "../file/connection.ts";

export interface VersionedTable {
  readonly name: string;
  /** The column with the id of the resource that a row belongs to. */
  readonly key: string;
  /** The columns that identify a row within its resource; none if there is at most one. */
  readonly position: readonly string[];
  readonly columns: readonly string[];
}

/** @param table the name of an entity's table, without `_` */
export function entityTable(table: string): VersionedTable {
  const found = entityTables.find((one) => one.table === table);
  if (found === undefined) throw new Error(`no entity has the table ${table}`);
  const { references, columns } = found;
  return {
    name: `_${table}`,
    key: "id",
    position: [],
    columns: [...references.map((name) => `${name}_id`), ...columns],
  };
}

export const listTable = ({ table, columns }: ListTable): VersionedTable => ({
  name: `_${table}`,
  key: "parent_id",
  position: ["n"],
  columns,
});

export const linkTable: VersionedTable = {
  name: "_link",
  key: "from_id",
  position: ["name"],
  columns: ["kind", "to_id", "unfollowed_url"],
};

export const memberTable: VersionedTable = {
  name: "_member",
  key: "page_id",
  position: ["n"],
  columns: ["item_id", "name"],
};

/** The tables with the service's fields: for each entity, its own and those of its lists. */
export const typedTables: readonly (readonly VersionedTable[])[] = [
  ...entityTables.map(({ table, lists }) => [entityTable(table), ...lists.map(listTable)]),
  [listTable(measurement)],
];

export const versionedTables: readonly VersionedTable[] = [...typedTables.flat(), linkTable, memberTable];

/** Key, position and columns, in this order. */
export function storedColumns({ key, position, columns }: VersionedTable): readonly string[] {
  return [key, ...position, ...columns];
}

/** One value for each of `storedColumns`, as statements with `safeIntegers()` return it: ids are bigints. */
export type StoredRow = readonly unknown[];

export interface RowOwner {
  readonly id: number;
  /** Whether rows of this resource may exist. */
  readonly isKnown: boolean;
}

export interface VersionedRows {
  /** Makes these the current rows of the resource; rows that differ become past ones. */
  replace(owner: RowOwner, rows: readonly StoredRow[], runId: number): void;
  /** The current rows, ordered by position. */
  read(id: number): StoredRow[];
}

export function prepareVersionedRows(db: Connection, table: VersionedTable): VersionedRows {
  const { select, insert, archive, remove, selectEnded, removeEnded } = prepareStatements(db, table);
  const placeOf = (row: StoredRow) => row.slice(0, 1 + table.position.length);
  const read = (id: number) => select.all(id) as StoredRow[];

  /** The run since which a new row is valid: earlier than this run if this run had ended the same row before. */
  const resume = (place: StoredRow, row: StoredRow, runId: number): unknown => {
    const ended = selectEnded.get(...place, runId) as StoredRow | undefined;
    if (ended === undefined || !isSameRow(ended.slice(0, -1), row)) return runId;
    removeEnded.run(...place, runId);
    return ended.at(-1);
  };

  return {
    read,
    replace({ id, isKnown }, rows, runId) {
      if (!isKnown) {
        for (const row of rows) insert.run(...row, runId);
        return;
      }
      const formerRows = new Map(read(id).map((row) => [placeOf(row).join(), row]));
      for (const row of rows) {
        const place = placeOf(row);
        const former = formerRows.get(place.join());
        formerRows.delete(place.join());
        if (former !== undefined && isSameRow(former, row)) continue;
        const wasArchived = former !== undefined && archive.run(runId, ...place, runId).changes > 0;
        insert.run(...row, wasArchived ? runId : resume(place, row, runId));
      }
      for (const row of formerRows.values()) {
        const place = placeOf(row);
        archive.run(runId, ...place, runId);
        remove.run(...place);
      }
    },
  };
}

/** Raw, since tables and columns are given by name. The plus signs are those of `query-builder.ts`. */
function prepareStatements(db: Connection, table: VersionedTable) {
  const { name, key, position } = table;
  const columns = storedColumns(table);
  const list = columns.join(", ");
  const isAtPlace = [key, ...position].map((column) => `${column} = +?`).join(" and ");
  const order = position.length === 0 ? "" : ` order by ${position.join(", ")}`;
  return {
    select: db.prepare(`select ${list} from ${name} where ${key} = +?${order}`).raw().safeIntegers(),
    insert: db.prepare(
      `insert or replace into ${name} (${list}, from_run) values (${columns.map(() => "?").join(", ")}, ?)`,
    ),
    remove: db.prepare(`delete from ${name} where ${isAtPlace}`),
    /** Keeps the current row as a past one, unless it is of this very run. */
    archive: db.prepare(
      `insert into ${name}_past (${list}, from_run, to_run)
       select ${list}, from_run, ? from ${name} where ${isAtPlace} and from_run < +?`,
    ),
    selectEnded: db
      .prepare(`select ${list}, from_run from ${name}_past where ${isAtPlace} and to_run = +?`)
      .raw()
      .safeIntegers(),
    removeEnded: db.prepare(`delete from ${name}_past where ${isAtPlace} and to_run = +?`),
  };
}

const isSameRow = (a: StoredRow, b: StoredRow): boolean => a.every((value, n) => isSame(value, b[n]));

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (Buffer.isBuffer(a) && Buffer.isBuffer(b) && a.equals(b));
}
