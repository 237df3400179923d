/**
 * What a body becomes: a row in its table, and rows in the tables of its lists. In: an envelope and the definition of
 * its entity. Out: rows with URLs where the mirror will put its own ids. Pure: no database, no clock.
 */
import type { z } from "zod";
import { type Envelope, type FieldIssue, isRecord, readKnownFields, toPointer } from "./envelope.ts";
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
  /** Rows in the order of the list, one an entry; null where the value has no such shape. `at` is its JSON pointer. */
  readonly read: (value: unknown, at: string, issues: FieldIssue[]) => readonly (readonly Cell[])[] | null;
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
    const { vendorUrl, body } = takeVendorUrl(envelope.body ?? {}, serviceName, issues);
    const fields: Record<string, unknown> = readKnownFields(entity.fields, body, "/body", issues);
    const lists = entity.lists.map((list) => {
      const at = `/body/${list.field}`;
      const value = body[list.field];
      const rows = value === undefined || value === null ? [] : list.read(value, at, issues);
      if (rows === null) issues.push({ pointer: at, code: "wrong-type" });
      return { table: list.table, rows: rows ?? [] };
    });
    const row = {
      table: entity.table,
      cells: columns.map(
        (column) => (fields[column] ?? (column === "service_url" ? vendorUrl : null)) as Cell,
      ),
    };
    return { row, lists, issues };
  };
}

/** Takes `<serviceName>_url` out of a body that has it. */
function takeVendorUrl(
  body: Readonly<Record<string, unknown>>,
  serviceName: string,
  issues: FieldIssue[],
): { readonly vendorUrl: string | null; readonly body: Readonly<Record<string, unknown>> } {
  const vendorKey = `${serviceName}_url`;
  if (serviceName === "service" || !Object.hasOwn(body, vendorKey)) return { vendorUrl: null, body };
  const { [vendorKey]: given, ...rest } = body;
  if (typeof given === "string") return { vendorUrl: given, body: rest };
  if (given !== null) issues.push({ pointer: toPointer(["body", vendorKey]), code: "wrong-type" });
  return { vendorUrl: null, body: rest };
}

/** Rows of an object that maps labels to text: one row an entry. */
export function readLabelMap(
  value: unknown,
  at: string,
  issues: FieldIssue[],
): readonly (readonly Cell[])[] | null {
  if (!isRecord(value)) return null;
  return Object.entries(value).map(([system, label]) => {
    if (typeof label === "string") return [system, label];
    if (label !== null) issues.push({ pointer: at + toPointer([system]), code: "wrong-type" });
    return [system, null];
  });
}
