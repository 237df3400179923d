/** Changes as rows for CSV: one for each field that changed. */
import type { Row as CsvRow } from "../../exports/table.ts";
import type { Change, Reported, Value } from "../change/change.ts";
import { isList } from "../change/values.ts";
import { toJson } from "./to-json.ts";

export const changeColumns = ["kind", "href", "change", "field", "before", "after"];

/** Of what is added or removed without a trace, each field that has a value; and whether it is gone as `gone_at`. */
export function rowsOf(change: Change | Reported): CsvRow[] {
  const { kind, href, change: what } = change;
  const toRow = (field: string, before: Value, after: Value): CsvRow => [
    ...[kind, href, what, field],
    ...[toCell(before), toCell(after)],
  ];
  if (change.change === "reported") return [toRow("last_modified_at", null, change.lastModifiedAt)];
  if (change.change === "added" || (change.change === "removed" && !change.isTombstone)) {
    const fields = Object.entries(change.row).filter(([field, value]) => field !== "href" && value !== null);
    return fields.map(([field, value]) =>
      change.change === "added" ? toRow(field, null, value) : toRow(field, value, null),
    );
  }
  const rows = change.fields.map(({ field, before, after }) => toRow(field, before, after));
  if (change.change === "removed") rows.push(toRow("gone_at", null, change.row.gone_at ?? null));
  if (change.change === "revived") rows.push(toRow("gone_at", change.goneAt, null));
  return rows;
}

function toCell(value: Value) {
  return isList(value) ? toJson(value) : value;
}
