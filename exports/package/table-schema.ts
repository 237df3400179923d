/** The columns, keys and references of a table, as a Table Schema (https://datapackage.org) states them. */
import { describeColumn, keyAmong, meaningOf } from "../../schema/dictionary/columns.ts";
import type { ColumnType } from "../../schema/dictionary/table-meaning.ts";

/** A column of one table with the `href` of a row in another, which is in the same package. */
export interface Reference {
  readonly table: string;
  /** The column with the key of the other table. */
  readonly column: string;
  /** The other table. */
  readonly to: string;
}

/** @param nameOf the name of a table's file in the package */
export function tableSchema(
  file: {
    readonly table: string;
    readonly columns: readonly string[];
    readonly mixedColumns?: readonly string[];
    readonly format: string;
  },
  nameOf: (table: string) => string,
  references: readonly Reference[],
): object {
  const { table, columns, mixedColumns = [], format } = file;
  return {
    fields: columns.map((column) => fieldOf(table, column, format, mixedColumns.includes(column))),
    ...keysOf(table, columns, nameOf, references),
  };
}

const fieldTypes: Readonly<Record<ColumnType, object>> = {
  text: { type: "string" },
  url: { type: "string", format: "uri" },
  time: { type: "datetime" },
  integer: { type: "integer" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  object: { type: "object" },
  any: { type: "any" },
  verbatim: { type: "string" },
};

const booleanInCsv = { ...fieldTypes.boolean, trueValues: ["1"], falseValues: ["0"] };

function fieldOf(table: string, column: string, format: string, isMixed: boolean): object {
  const described = describeColumn(table, column);
  if (described === null) return { name: column, type: "any" };
  const { name, type, about } = described;
  const mixedType = format === "sqlite" ? fieldTypes.any : fieldTypes.text;
  const ownType = type === "boolean" && format === "csv" ? booleanInCsv : fieldTypes[type];
  return {
    name,
    ...(isMixed ? mixedType : ownType),
    ...(about !== "" && { description: about }),
    ...(meaningOf(table)?.key?.includes(name) && { constraints: { required: true } }),
  };
}

function keysOf(
  table: string,
  columns: readonly string[],
  nameOf: (table: string) => string,
  references: readonly Reference[],
): object {
  const key = keyAmong(table, columns);
  const foreignKeys = references
    .filter((reference) => reference.table === table)
    .map(({ column, to }) => ({ fields: [column], reference: { resource: nameOf(to), fields: ["href"] } }));
  return { ...(key && { primaryKey: key }), ...(foreignKeys.length > 0 && { foreignKeys }) };
}
