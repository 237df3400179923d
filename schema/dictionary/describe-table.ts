/** One public table with its columns, key and references, for people and programs that ask for it by name. */
import { type ColumnDescription, describeColumn } from "./columns.ts";
import { publicTables } from "./public-tables.ts";

export interface TableDescription {
  readonly table: string;
  readonly about: string;
  readonly key: readonly string[];
  /** Column to table; the value is the `href` of a row there. */
  readonly references: Readonly<Record<string, string>>;
  readonly columns: readonly ColumnDescription[];
}

/** The names of all public tables, each followed by that of its rows that are not gone. */
export const publicTableNames = (): string[] =>
  Object.keys(publicTables).flatMap((table) => [table, `${table}_current`]);

/**
 * @param columns of the table, in order; none for an unknown one
 * @returns null for a table that is not public
 */
export function describeTable(table: string, columns: readonly string[]): TableDescription | null {
  const base = columns.length === 0 ? table : table.replace(/_current$/, "");
  const meaning = Object.hasOwn(publicTables, base) ? publicTables[base] : undefined;
  if (meaning === undefined) return null;
  const { key = [], references = {} } = meaning;
  const about = table === base ? meaning.about : `The table ${base} without resources that are gone.`;
  return {
    table,
    about,
    key,
    references,
    columns: columns.flatMap((column) => describeColumn(base, column) ?? []),
  };
}
