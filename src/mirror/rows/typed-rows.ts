/** Writing and reading the typed rows of one resource: the one place that knows how a projection lies in its tables. */
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

/** Gives the id that a reference of an entity leads to; null when it leads nowhere. */
export type ReferenceIds = (entity: Entity) => (number | null)[];

export interface TypedRows {
  write(owner: RowOwner, projection: Projection, referenceIds: ReferenceIds, runId: number): void;
  /** Says whose a resource is whose own row did not. */
  setOwner(resourceId: number, ownerId: number | null, runId: number): void;
  /** Every stored row of the resource, for comparing with a projection. */
  read(resourceId: number): RowsOfTable[];
  /** The rows that `write` would leave, in the shape of `read`. */
  expected(resourceId: number, projection: Projection, referenceIds: ReferenceIds): RowsOfTable[];
}

/** The rows of one resource in one table, where it has any. */
export interface RowsOfTable {
  readonly table: string;
  readonly rows: readonly StoredRow[];
}

export function prepareTypedRows(db: Connection): TypedRows {
  const entityTables = entities.map((entity) => ({
    entity,
    table: `_${entity.table}`,
    ownerColumn: entity.owner === null ? null : 1 + entity.references.indexOf(entity.owner),
    versioned: prepareVersionedRows(db, entityTable(entity)),
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
        const orphans = versioned.read(resourceId).filter((row) => row[ownerColumn] === null);
        const adopted = orphans.map((row) => row.with(ownerColumn, toStoredId(ownerId)));
        if (adopted.length > 0) versioned.replace({ id: resourceId, isKnown: true }, adopted, runId);
      }
    },
    read(resourceId) {
      return [...entityTables, ...lists]
        .map(({ table, versioned }) => ({ table, rows: versioned.read(resourceId) }))
        .filter(hasRows);
    },
    expected(resourceId, projection, referenceIds) {
      const wanted = rowsOf(resourceId, projection, referenceIds);
      const lists = wanted.lists.map(({ list, rows }) => ({ table: list?.table ?? "", rows }));
      const row = wanted.table ? [{ table: wanted.table.table, rows: [wanted.row] }] : [];
      return [...row, ...lists].filter(hasRows);
    },
  };
}

const hasRows = ({ rows }: RowsOfTable): boolean => rows.length > 0;
