/** Types, meanings and keys of the columns of public and exported tables. */
import { entityTables } from "../entities/entity-tables.ts";
import { exportedTables, publicTables, sharedColumns } from "./public-tables.ts";
import type { ColumnType, ColumnTypes, PublicTableMeaning } from "./table-meaning.ts";

const sharedTypes: Readonly<Record<string, ColumnType>> = {
  href: "url",
  brand_href: "url",
  model_href: "url",
  size_href: "url",
  first_seen_at: "time",
  checked_at: "time",
  gone_at: "time",
};

/** Of a public table, or of one that only exports have; undefined for any other. */
export const meaningOf = (table: string): PublicTableMeaning | undefined =>
  publicTables[table] ?? exportedTables[table];

export interface ColumnDescription {
  readonly name: string;
  readonly type: ColumnType;
  readonly about: string;
}

/** The columns that identify a row; null if the table has none, or not all of them are among these columns. */
export function keyAmong(table: string, columns: readonly string[]): readonly string[] | null {
  const key = meaningOf(table)?.key;
  return key?.every((column) => columns.includes(column)) ? key : null;
}

/** Null for a column that is not one of a public table. */
export function describeColumn(table: string, name: string): ColumnDescription | null {
  const meaning = meaningOf(table);
  const about = meaning?.columns[name] ?? sharedColumns[name];
  if (meaning === undefined || about === undefined) return null;
  const types = entityTables.find((entity) => entity.table === table)?.types ?? {};
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  return { name, type: type ?? meaning.types?.[name] ?? sharedTypes[name] ?? "text", about };
}

export const columnTypes = (table: string, columns: readonly string[]): ColumnTypes =>
  columns.map((column) => describeColumn(table, column)?.type ?? null);
