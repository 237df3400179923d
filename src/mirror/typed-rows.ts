/** Writing and reading the typed rows of one resource: the one place that knows how a projection lies in its tables. */
import { entities, listTables } from "../../schema/entities.ts";
import type { Cell } from "../../schema/fields.ts";
import { columnsOf, type Entity, type Projection } from "../../schema/projection.ts";
import { toStored } from "./cell.ts";
import type { Connection } from "./connection.ts";

/** Gives the id that a reference of an entity leads to; null when it leads nowhere. */
export type ReferenceIds = (entity: Entity) => (number | null)[];

export interface TypedRows {
  write(resourceId: number, projection: Projection, referenceIds: ReferenceIds): void;
  /** Says whose a resource is whose own row did not. */
  adopt(resourceId: number, ownerId: number | null): void;
  /** Every stored row of the resource, table by table, for comparing with a projection. */
  read(resourceId: number): unknown[][];
  /** The rows that `write` would leave, in the shape of `read`. */
  expected(resourceId: number, projection: Projection, referenceIds: ReferenceIds): unknown[][];
}

export function prepareTypedRows(db: Connection): TypedRows {
  const entityTables = entities.map((entity) => {
    const columns = ["id", ...entity.references.map((name) => `${name}_id`), ...columnsOf(entity)];
    return {
      entity,
      insert: db.prepare(
        `insert or replace into _${entity.table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
      ),
      adopt:
        entity.owner === null
          ? null
          : db.prepare(
              `update _${entity.table} set ${entity.owner}_id = ? where id = ? and ${entity.owner}_id is null`,
            ),
      select: db
        .prepare(`select ${columns.join(", ")} from _${entity.table} where id = ?`)
        .raw()
        .safeIntegers(),
    };
  });
  const lists = listTables.map((list) => {
    const columns = ["parent_id", "n", ...list.columns];
    return {
      table: list.table,
      insert: db.prepare(
        `insert into _${list.table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
      ),
      remove: db.prepare(`delete from _${list.table} where parent_id = ?`),
      select: db
        .prepare(`select ${columns.join(", ")} from _${list.table} where parent_id = ? order by n`)
        .raw()
        .safeIntegers(),
    };
  });
  const entityTable = new Map(entityTables.map((table) => [table.entity.table, table]));
  const listTable = new Map(lists.map((list) => [list.table, list]));

  const rowsOf = (resourceId: number, projection: Projection, referenceIds: ReferenceIds) => {
    const id = BigInt(resourceId);
    const table = projection.row && entityTable.get(projection.row.table);
    const references = table
      ? referenceIds(table.entity).map((reference) => (reference === null ? null : BigInt(reference)))
      : [];
    return {
      table,
      row: table ? [id, ...references, ...(projection.row?.cells ?? []).map(toStored)] : [],
      lists: projection.lists.map(({ table: name, rows }) => ({
        list: listTable.get(name),
        rows: rows.map((cells: readonly Cell[], n) => [id, BigInt(n), ...cells.map(toStored)]),
      })),
    };
  };

  return {
    write(resourceId, projection, referenceIds) {
      const written = rowsOf(resourceId, projection, referenceIds);
      written.table?.insert.run(written.row);
      for (const { list, rows } of written.lists) {
        list?.remove.run(resourceId);
        for (const row of rows) list?.insert.run(row);
      }
    },
    adopt(resourceId, ownerId) {
      for (const { adopt } of entityTables) adopt?.run(ownerId, resourceId);
    },
    read(resourceId) {
      return [...entityTables, ...lists].flatMap((table) =>
        table.select.all(resourceId).map((row) => row as unknown[]),
      );
    },
    expected(resourceId, projection, referenceIds) {
      const wanted = rowsOf(resourceId, projection, referenceIds);
      return [...(wanted.table ? [wanted.row] : []), ...wanted.lists.flatMap((list) => list.rows)];
    },
  };
}
