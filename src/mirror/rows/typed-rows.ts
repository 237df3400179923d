/** Writes and reads the typed rows of one resource: only this file maps a projection to tables. */
import { entities, listTables } from "../../../schema/entities.ts";
import type { Cell } from "../../../schema/fields.ts";
import type { Entity, Projection } from "../../../schema/rows-from-body.ts";
import type { Connection } from "../file/connection.ts";
import { toStored, toStoredId } from "./cells.ts";
import {
  entityTable,
  listTable,
  prepareVersionedRows,
  type RowOwner,
  type StoredRow,
} from "./versioned-rows.ts";

/** The ids of the resources that an entity refers to, in the order of its references; null for no resource. */
export type ReferenceIds = (entity: Entity) => (number | null)[];

export interface TypedRows {
  write(owner: RowOwner, projection: Projection, referenceIds: ReferenceIds, runId: number): void;
  /** Sets the owner in a row that has none. */
  setOwner(resourceId: number, ownerId: number | null, runId: number): void;
  /** Every stored row of the resource, for comparison with `expected`. */
  read(resourceId: number): RowsOfTable[];
  /** The rows that `write` would leave, as `read` would return them. */
  expected(resourceId: number, projection: Projection, referenceIds: ReferenceIds): RowsOfTable[];
}

/** The rows of one resource in one table; at least one. */
export interface RowsOfTable {
  readonly table: string;
  readonly rows: readonly StoredRow[];
}

export function prepareTypedRows(db: Connection): TypedRows {
  const entityTables = entities.map((entity) => ({
    entity,
    table: `_${entity.table}`,
    ownerColumn: entity.owner === null ? null : 1 + entity.references.indexOf(entity.owner),
    versioned: prepareVersionedRows(db, entityTable(entity.table)),
  }));
  const lists = listTables.map((list) => ({
    table: `_${list.table}`,
    versioned: prepareVersionedRows(db, listTable(list)),
  }));
  const tableOfEntity = new Map(entityTables.map((table) => [table.entity.table, table]));
  const tableOfList = new Map(listTables.map(({ table }, n) => [table, lists[n]]));

  const rowsOf = (resourceId: number, projection: Projection, referenceIds: ReferenceIds) => {
    const id = BigInt(resourceId);
    const table = projection.row && tableOfEntity.get(projection.row.table);
    const references = table ? referenceIds(table.entity).map(toStoredId) : [];
    return {
      table,
      row: table ? [id, ...references, ...(projection.row?.cells ?? []).map(toStored)] : [],
      lists: projection.lists.map(({ table: name, rows }) => ({
        list: tableOfList.get(name),
        rows: rows.map((cells: readonly Cell[], n) => [id, BigInt(n), ...cells.map(toStored)]),
      })),
    };
  };

  return {
    write(owner, projection, referenceIds, runId) {
      const { table, row, lists } = rowsOf(owner.id, projection, referenceIds);
      table?.versioned.replace(owner, [row], runId);
      for (const { list, rows } of lists) list?.versioned.replace(owner, rows, runId);
    },
    setOwner(resourceId, ownerId, runId) {
      for (const { ownerColumn, versioned } of entityTables) {
        if (ownerColumn === null) continue;
        const rows = versioned
          .read(resourceId)
          .filter((row) => row[ownerColumn] === null)
          .map((row) => row.with(ownerColumn, toStoredId(ownerId)));
        if (rows.length > 0) versioned.replace({ id: resourceId, isKnown: true }, rows, runId);
      }
    },
    read(resourceId) {
      return [...entityTables, ...lists]
        .map(({ table, versioned }) => ({ table, rows: versioned.read(resourceId) }))
        .filter(hasRows);
    },
    expected(resourceId, projection, referenceIds) {
      const { table, row, lists } = rowsOf(resourceId, projection, referenceIds);
      return [
        ...(table ? [{ table: table.table, rows: [row] }] : []),
        ...lists.map(({ list, rows }) => ({ table: list?.table ?? "", rows })),
      ].filter(hasRows);
    },
  };
}

const hasRows = ({ rows }: RowsOfTable): boolean => rows.length > 0;
