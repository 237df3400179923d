/**
 * The tables of the entities, as plain data. The bundled program contains the values (`deploy/lazy-imports.ts`), because the
 * shapes of the fields take a while to load.
 */
import type { ColumnType } from "../dictionary/table-meaning.ts";
import { entities } from "../entities.ts";
import { decimal, document, flag, integer, open, text } from "../fields.ts";
import { columnsOf } from "../rows-from-body.ts";

export interface EntityTable {
  /** As in `Entity`. */
  readonly table: string;
  readonly references: readonly string[];
  /** The names of all fields, also of those that are lists. */
  readonly fields: readonly string[];
  readonly columns: readonly string[];
  /** By field; none for those whose meaning decides. */
  readonly types: Readonly<Record<string, ColumnType>>;
  readonly lists: readonly {
    readonly table: string;
    readonly field: string;
    readonly columns: readonly string[];
  }[];
}

const fieldTypes = new Map<unknown, ColumnType>([
  [text, "text"],
  [integer, "integer"],
  [decimal, "number"],
  [flag, "boolean"],
  [open, "any"],
  [document, "object"],
]);

export const entityTables: readonly EntityTable[] = entities.map((entity) => ({
  table: entity.table,
  references: entity.references,
  fields: Object.keys(entity.fields.shape),
  columns: columnsOf(entity),
  types: Object.fromEntries(
    Object.entries(entity.fields.shape).flatMap(([name, field]) => {
      const type = fieldTypes.get(field);
      return type === undefined ? [] : [[name, type]];
    }),
  ),
  lists: entity.lists.map(({ table, field, columns }) => ({ table, field, columns })),
}));
