/** How a table is described. */

/** The type of a column's values. A number that a double would change is stored as text of its digits. */
export type ColumnType =
  | "text"
  | "url"
  | "time"
  | "integer"
  | "number"
  | "boolean"
  | "object"
  | "any"
  /** Text as the service sent it, which no export escapes. */
  | "verbatim";

/** The types of columns by position; null for an unknown one. */
export type ColumnTypes = readonly (ColumnType | null)[];

/** How the values of a type are stored in a mirror; the others are what their names say. */
export const storedTypes: Readonly<Partial<Record<ColumnType, string>>> = {
  url: "text",
  time: "text, ISO 8601 in UTC, such as 2026-01-31T06:00:00.000Z",
  boolean: "1 is true, 0 is false",
  object: "JSON text",
  any: "as the service sent it: text, a number, 1 or 0 for true or false, or JSON text",
};

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
