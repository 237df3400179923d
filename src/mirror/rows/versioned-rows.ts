/**
 * Rows that are derived from a resource's body, and what they were before. A row that becomes another one, or none, is
 * kept in `<table>_past` with the runs from which and up to which it held; one that no closed run has seen is not. This
 * is the only place that writes such tables, so that whatever changes is remembered.
 */

import { measurement } from "../../../schema/entities/measurement.ts";
import { entities } from "../../../schema/entities.ts";
import { columnsOf, type Entity, type ListTable } from "../../../schema/rows-from-body.ts";
import type { Connection } from "../file/connection.ts";

/** A table whose rows are each of one resource. */
export interface VersionedTable {
  readonly name: string;
  /** The column with the resource's id. */
  readonly key: string;
  /** What tells the rows of one resource apart; none where there is only one. */
  readonly position: readonly string[];
  readonly columns: readonly string[];
}

/** A cell for each column, in the order of `columnsOf`, as SQLite gives it when asked for safe integers: ids are bigints. */
export type StoredRow = readonly unknown[];

/** A resource, and whether it may have rows already. */
export interface RowOwner {
  readonly id: number;
  readonly isKnown: boolean;
}

export interface VersionedRows {
  /** Makes these the rows of the resource, and keeps what differs from them as what it was. */
  replace(owner: RowOwner, rows: readonly StoredRow[], runId: number): void;
  /** In the order of their positions. */
  read(id: number): StoredRow[];
}

export function storedColumns({ key, position, columns }: VersionedTable): readonly string[] {
  return [key, ...position, ...columns];
}

export function prepareVersionedRows(db: Connection, table: VersionedTable): VersionedRows {
  const { name, key, position } = table;
  const columns = storedColumns(table);
  const listed = columns.join(", ");
  const isAt = [key, ...position].map((column) => `${column} = ?`).join(" and ");
  const order = position.length === 0 ? "" : ` order by ${position.join(", ")}`;
  const select = db.prepare(`select ${listed} from ${name} where ${key} = ?${order}`).raw().safeIntegers();
  // Prepared when something is written: a mirror of an earlier version, which has no such tables, can still be read.
  const prepareWriting = () => ({
    insert: db.prepare(
      `insert or replace into ${name} (${listed}, from_run) values (${columns.map(() => "?").join(", ")}, ?)`,
    ),
    remember: db.prepare(
      `insert into ${name}_past (${listed}, from_run, to_run)
       select ${listed}, from_run, ? from ${name} where ${isAt} and from_run < ?`,
    ),
    remove: db.prepare(`delete from ${name} where ${isAt}`),
    ended: db
      .prepare(`select ${listed}, from_run from ${name}_past where ${isAt} and to_run = ?`)
      .raw()
      .safeIntegers(),
    forget: db.prepare(`delete from ${name}_past where ${isAt} and to_run = ?`),
  });
  let writing: ReturnType<typeof prepareWriting> | null = null;
  const placeOf = (row: StoredRow) => row.slice(0, 1 + position.length);
  const read = (id: number) => select.all(id) as StoredRow[];

  return {
    read,
    replace({ id, isKnown }, rows, runId) {
      writing ??= prepareWriting();
      const { insert, remember, remove, ended, forget } = writing;
      // What became something else in this very run, and is back before the run closes, has been so all along.
      const resume = (place: StoredRow, row: StoredRow): unknown => {
        const former = ended.get(...place, runId) as StoredRow | undefined;
        if (former === undefined || !isSameRow(former.slice(0, -1), row)) return runId;
        forget.run(...place, runId);
        return former.at(-1);
      };
      if (!isKnown) {
        for (const row of rows) insert.run(...row, runId);
        return;
      }
      const former = new Map(read(id).map((row) => [placeOf(row).join(), row]));
      for (const row of rows) {
        const place = placeOf(row);
        const before = former.get(place.join());
        former.delete(place.join());
        if (before !== undefined && isSameRow(before, row)) continue;
        const isOfEarlier = before !== undefined && remember.run(runId, ...place, runId).changes > 0;
        insert.run(...row, isOfEarlier ? runId : resume(place, row));
      }
      for (const row of former.values()) {
        const place = placeOf(row);
        remember.run(runId, ...place, runId);
        remove.run(...place);
      }
    },
  };
}

const isSameRow = (stored: StoredRow, given: StoredRow): boolean =>
  stored.every((cell, n) => isSame(cell, given[n]));

function isSame(stored: unknown, given: unknown): boolean {
  return stored === given || (Buffer.isBuffer(stored) && Buffer.isBuffer(given) && stored.equals(given));
}

/** The tables whose rows are remembered. Every one of them, so that reading a moment of the past can leave none out. */

export const entityTable = (entity: Entity): VersionedTable => ({
  name: `_${entity.table}`,
  key: "id",
  position: [],
  columns: [...entity.references.map((name) => `${name}_id`), ...columnsOf(entity)],
});

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
  columns: ["kind", "to_id", "noted_url"],
};

export const memberTable: VersionedTable = {
  name: "_member",
  key: "page_id",
  position: ["n"],
  columns: ["item_id", "name"],
};

/** Those with the fields of the service, each entity's with its lists. */
export const typedTables: readonly (readonly VersionedTable[])[] = [
  ...entities.map((entity) => [entityTable(entity), ...entity.lists.map(listTable)]),
  [listTable(measurement)],
];

export const versionedTables: readonly VersionedTable[] = [...typedTables.flat(), linkTable, memberTable];
