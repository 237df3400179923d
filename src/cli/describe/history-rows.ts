/** A resource's life as rows for CSV and NDJSON: one for each field that changed, in the words of a diff. */
import type { Row } from "../../../exports/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import type { FieldValue } from "../../query/field-history.ts";
import type { Life, ResourceHistory, RevisionOfLife } from "../../query/history.ts";
import { toJson } from "../terminal/to-json.ts";

export const historyColumns = ["kind", "href", "revision", "run", "at", "change", "field", "before", "after"];

/** Without a field where a revision changed none, and where the resource was found gone, which is no revision. */
export function rowsOfHistory({ kind, href, lives }: ResourceHistory): Row[] {
  return lives.flatMap((life, n) => rowsOfLife(life, n > 0)).map((row) => [kind, href, ...row]);
}

function rowsOfLife({ revisions, gone }: Life, isRevived: boolean): Row[] {
  const rows = revisions.flatMap((revision, n) =>
    rowsOfRevision(
      revision,
      n > 0 ? "changed" : isRevived ? "revived" : revision.forgotten > 0 ? "read" : "added",
    ),
  );
  return gone === null ? rows : [...rows, [null, gone.run, gone.at, "removed", null, null, null]];
}

function rowsOfRevision({ revision, firstSeen, changes }: RevisionOfLife, change: string): Row[] {
  const about = [revision, firstSeen.run, firstSeen.at, change];
  if (changes.length === 0) return [[...about, null, null, null]];
  return changes.map(({ field, before, after }) => [...about, field, toCell(before), toCell(after)]);
}

function toCell(value: FieldValue): Cell {
  return value !== null && typeof value === "object" ? toJson(value) : value;
}
