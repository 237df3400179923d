/**
 * What a body becomes: a row in its table, and rows in the tables of its lists. In: an envelope and the definition of
 * its entity. Out: rows with URLs where the mirror will put its own ids. Pure: no database, no clock.
 */
import type { z } from "zod";
import { type Envelope, type FieldIssue, isRecord, readFields, toPointer } from "./envelope.ts";
import type { Cell } from "./fields.ts";

/** A table with one row an entity, keyed by the entity's resource. */
export interface Entity {
  /** The public name; the mirror keeps the rows in `_<table>` and shows them in the view `<table>`. */
  readonly table: string;
  /** The fields of a body; each that is not a list is a column. */
  readonly fields: z.ZodObject<z.ZodRawShape>;
  /** Links that become columns: `brand` is kept as `brand_id` and shown as `brand_href`. */
  readonly references: readonly string[];
  /** The reference that says whose it is; where the entity has no such link, the collection that listed it decides. */
  readonly owner: string | null;
  readonly lists: readonly EntityList[];
}

/** A table with several rows a resource, keyed by the resource and the position in its list. */
export interface ListTable {
  readonly table: string;
  readonly columns: readonly string[];
}

export interface EntityList extends ListTable {
  /** The field of the body that holds the list. */
  readonly field: string;
  /** Rows in the order of the list; null where the value has no such shape. */
  readonly read: (value: unknown) => readonly (readonly Cell[])[] | null;
}

export interface Projection {
  readonly row: EntityRow | null;
  readonly lists: readonly ListRows[];
  readonly issues: readonly FieldIssue[];
}

export interface EntityRow {
  readonly table: string;
  /** One per column of `columnsOf(entity)`, in that order. */
  readonly cells: readonly Cell[];
}

export interface ListRows {
  readonly table: string;
  readonly rows: readonly (readonly Cell[])[];
}

/** The fields that are columns of the entity's own table. */
export function columnsOf(entity: Entity): string[] {
  const lists = new Set(entity.lists.map((list) => list.field));
  return Object.keys(entity.fields.shape).filter((field) => !lists.has(field));
}

/**
 * A projection for an entity: a field of a wrong type gives null and is reported, an unknown field is reported.
 * The returned function takes the vendor's word in `<name>_url` (read as `service_url`).
 */
export function entityProjector(entity: Entity): (envelope: Envelope, serviceName: string) => Projection {
  const columns = columnsOf(entity);
  return (envelope, serviceName) => {
    const issues: FieldIssue[] = [];
    const body = withServiceUrl(envelope.body ?? {}, serviceName);
    const fields: Record<string, unknown> = readFields(entity.fields, body, "/body", issues);
    for (const key of Object.keys(body)) {
      if (!Object.hasOwn(entity.fields.shape, key)) {
        issues.push({ pointer: toPointer(["body", key]), code: "unknown-field" });
      }
    }
    const lists = entity.lists.map((list) => {
      const value = body[list.field];
      const rows = value === undefined || value === null ? [] : list.read(value);
      if (rows === null) issues.push({ pointer: toPointer(["body", list.field]), code: "wrong-type" });
      return { table: list.table, rows: rows ?? [] };
    });
    const row = {
      table: entity.table,
      cells: columns.map((column) => (fields[column] ?? null) as Cell),
    };
    return { row, lists, issues };
  };
}

/** Gives `<serviceName>_url` its neutral name. */
function withServiceUrl(
  value: Readonly<Record<string, unknown>>,
  serviceName: string,
): Readonly<Record<string, unknown>> {
  const vendorKey = `${serviceName}_url`;
  if (vendorKey === "service_url" || !Object.hasOwn(value, vendorKey)) return value;
  const renamed: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) renamed[key === vendorKey ? "service_url" : key] = field;
  return renamed;
}

/** Rows of an object that maps labels to text: one row an entry. */
export function readLabelMap(value: unknown): readonly (readonly Cell[])[] | null {
  if (!isRecord(value)) return null;
  const entries = Object.entries(value);
  return entries.every(([, label]) => typeof label === "string") ? (entries as [string, string][]) : null;
}
