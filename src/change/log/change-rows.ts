/** Changes as rows of a table. */
import { toJson } from "../../../exports/formats/json.ts";
import type { Row as TableRow } from "../../../exports/formats/table.ts";
import type { Change, Reported, Row, Value } from "../change.ts";
import { isList } from "../diff.ts";
import type { Keyed } from "../keys.ts";

export const changeColumns = [
  "kind",
  "key",
  "href",
  "brand",
  "model",
  "name",
  "change",
  "field",
  "before",
  "after",
];

/** One row per changed field. An added or removed resource has a row per value, and `gone_at` if it is gone. */
export function rowsOf(change: Keyed<Change | Reported>): TableRow[] {
  const { kind, key, href, brand, model, name, change: word } = change;
  const toRow = (field: string, before: Value, after: Value): TableRow => [
    kind,
    key,
    href,
    brand,
    model,
    toCell(name),
    word,
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

/** Read while they are iterated. */
export function* rowsOfAll(changes: Iterable<Keyed<Change>>): Generator<TableRow> {
  for (const change of changes) yield* rowsOf(change);
}

function valuesOf(row: Row): [string, Value][] {
  return Object.entries(row).filter(([field, value]) => field !== "href" && value !== null);
}

function toCell(value: Value) {
  return isList(value) ? toJson(value) : value;
}
