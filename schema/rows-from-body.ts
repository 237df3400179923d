/**
 * Turns a body into rows: one row of its entity's table, and rows of the tables of its lists. In: an envelope and the
 * definition of the entity, which decides the columns. Out: cells without ids, which the mirror adds. Pure.
 */
import type { z } from "zod";
import { type Envelope, type FieldIssue, readKnownFields, toPointer } from "./envelope.ts";
import type { Cell } from "./fields.ts";
import { IssueList, type IssueSink } from "./input/issues.ts";
import { limits } from "./input/limits.ts";
import { isRecord } from "./json.ts";

/** A table with one row per entity, keyed by the entity's resource. */
export interface Entity {
  /** The public name: the rows are in the table `_<table>`, and the view `<table>` shows them. */
  readonly table: string;
  /** The fields of a body; each becomes a column, except lists. */
  readonly fields: z.ZodObject<z.ZodRawShape>;
  /** Links that become columns: `brand` is stored as `brand_id` and shown as `brand_href`. */
  readonly references: readonly string[];
  /** The reference to the owner. Null, or without such a link: the owner of the collection that lists the entity. */
  readonly owner: string | null;
  readonly lists: readonly EntityList[];
}

/** A table with several rows per resource, keyed by the resource and the position in its list. */
export interface ListTable {
  readonly table: string;
  readonly columns: readonly string[];
}

export interface EntityList extends ListTable {
  /** The field of the body that holds the list. */
  readonly field: string;
  /** Returns one row per entry, in order; null if the value has another shape. `at` is its JSON pointer. */
  readonly read: (
    value: unknown,
    at: string,
    issues: IssueSink<FieldIssue>,
  ) => readonly (readonly Cell[])[] | null;
}

export interface Projection {
  /** Null for a kind without a table of its own. */
  readonly row: EntityRow | null;
  readonly lists: readonly ListRows[];
  readonly issues: readonly FieldIssue[];
}

export interface EntityRow {
  /** The name of the table. */
  readonly table: string;
  /** One per column of `columnsOf(entity)`, in that order. */
  readonly cells: readonly Cell[];
}

export interface ListRows {
  /** The name of the table. */
  readonly table: string;
  /** Each with one cell for each column of the table. */
  readonly rows: readonly (readonly Cell[])[];
}

/** The columns of the entity's own table: all fields that are not lists. */
export function columnsOf(entity: Entity): string[] {
  const lists = new Set(entity.lists.map((list) => list.field));
  return Object.keys(entity.fields.shape).filter((field) => !lists.has(field));
}

/**
 * Creates the projection of an entity. A field of a wrong type becomes null and an issue; an unknown field becomes an issue.
 * The service name is the prefix in `<name>_url`, which is read as `service_url`.
 * @param entityOf must return the same entity each time
 */
export function entityProjector(
  entityOf: () => Entity,
): (envelope: Envelope, serviceName: string) => Projection {
  let columns: readonly string[] | undefined;
  return (envelope, serviceName) => {
    const entity = entityOf();
    columns ??= columnsOf(entity);
    const issues = new IssueList<FieldIssue>();
    const { vendorUrl, body } = splitVendorUrl(envelope.body ?? {}, serviceName, issues);
    const fields: Record<string, unknown> = readKnownFields(entity.fields, body, "/body", issues);
    const lists = entity.lists.map((list) => {
      const at = `/body/${list.field}`;
      const value = body[list.field];
      const rows = value === undefined || value === null ? [] : readRows(list, value, at, issues);
      if (rows === null) issues.push({ pointer: at, code: "wrong-type" });
      return { table: list.table, rows: rows ?? [] };
    });
    const row = {
      table: entity.table,
      cells: columns.map(
        (column) => (fields[column] ?? (column === "service_url" ? vendorUrl : null)) as Cell,
      ),
    };
    return { row, lists, issues: issues.all() };
  };
}

/** Null for a list that is too long, or that has another shape. */
function readRows(list: EntityList, value: unknown, at: string, issues: IssueSink<FieldIssue>) {
  const isTooLong =
    typeof value === "object" && value !== null && Object.keys(value).length > limits.rowsPerList;
  return isTooLong ? null : list.read(value, at, issues);
}

/** Separates `<serviceName>_url` from the other fields. */
function splitVendorUrl(
  body: Readonly<Record<string, unknown>>,
  serviceName: string,
  issues: IssueSink<FieldIssue>,
): { readonly vendorUrl: string | null; readonly body: Readonly<Record<string, unknown>> } {
  const vendorKey = `${serviceName}_url`;
  if (serviceName === "service" || !Object.hasOwn(body, vendorKey)) return { vendorUrl: null, body };
  const { [vendorKey]: value, ...rest } = body;
  if (typeof value === "string") return { vendorUrl: value, body: rest };
  if (value !== null) issues.push({ pointer: toPointer(["body", vendorKey]), code: "wrong-type" });
  return { vendorUrl: null, body: rest };
}

/** Reads an object that maps labels to text: one row per entry. */
export function readLabelMap(
  value: unknown,
  at: string,
  issues: IssueSink<FieldIssue>,
): readonly (readonly Cell[])[] | null {
  if (!isRecord(value)) return null;
  return Object.entries(value).map(([system, label]) => {
    if (typeof label === "string") return [system, label];
    if (label !== null) issues.push({ pointer: at + toPointer([system]), code: "wrong-type" });
    return [system, null];
  });
}
