/** Changes as rows for CSV: one for each field that changed. */
import type { Row as CsvRow } from "../../../exports/table.ts";
import type { Change, Reported, Row, Value } from "../../change/change.ts";
import { isList } from "../../change/values.ts";
import { toJson } from "../terminal/to-json.ts";

export const changeColumns = ["kind", "href", "name", "change", "field", "before", "after"];

/**
 * Of what is added or removed, each field that has a value, `after` or `before`; and whether it is gone as `gone_at`.
 */
export function rowsOf(change: Change | Reported): CsvRow[] {
  const { kind, href, name, change: what } = change;
  const toRow = (field: string, before: Value, after: Value): CsvRow => [
    kind,
    href,
    toCell(name),
    what,
    field,
    toCell(before),
    toCell(after),
  ];
  switch (change.change) {
    case "reported":
      return [toRow("last_modified_at", null, change.lastModifiedAt)];
    case "added":
      return valuesOf(change.row).map(([field, value]) => toRow(field, null, value));
    case "removed": {
      const { gone_at: goneAt = null, ...last } = change.row;
      const before = Object.fromEntries(change.fields.map((field) => [field.field, field.before]));
      const rows = valuesOf({ ...last, ...before }).map(([field, value]) => toRow(field, value, null));
      return goneAt === null ? rows : [...rows, toRow("gone_at", null, goneAt)];
    }
    default: {
      const rows = change.fields.map(({ field, before, after }) => toRow(field, before, after));
      return change.change === "revived" ? [...rows, toRow("gone_at", change.goneAt, null)] : rows;
    }
  }
}

function valuesOf(row: Row): [string, Value][] {
  return Object.entries(row).filter(([field, value]) => field !== "href" && value !== null);
}

function toCell(value: Value) {
  return isList(value) ? toJson(value) : value;
}
