/** The tables whose rows are remembered. Every one of them, so that reading a moment of the past can leave none out. */
import { measurement } from "../../../schema/entities/measurement.ts";
import { entities } from "../../../schema/entities.ts";
import { columnsOf, type Entity, type ListTable } from "../../../schema/projection.ts";
import type { VersionedTable } from "./versioned-rows.ts";

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
