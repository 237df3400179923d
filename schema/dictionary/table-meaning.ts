/** How a table is described. */

/**
 * The type of a column's values: `time` is ISO 8601 in UTC, `boolean` is stored as 1 or 0, `object` as JSON text, and `any` is a
 * scalar of any type, or an object or a list as JSON text. A number that a double would change is stored as text of its digits.
 */
export type ColumnType = "text" | "url" | "time" | "integer" | "number" | "boolean" | "object" | "any";

export interface TableMeaning {
  readonly about: string;
  /** Name to meaning; empty if the name says it. */
  readonly columns: Readonly<Record<string, string>>;
}

export interface PublicTableMeaning extends TableMeaning {
  /** Of columns that are neither shared nor fields of an entity; `text` if missing. */
  readonly types?: Readonly<Record<string, ColumnType>>;
  /** The columns that identify a row; missing if none do. */
  readonly key?: readonly string[];
  /** Columns with the `href` of a row in another table. */
  readonly references?: Readonly<Record<string, string>>;
  /** Columns in the full-text index of an exported SQLite file. */
  readonly searched?: readonly string[];
}
