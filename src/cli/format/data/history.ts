/** Formats the history of a resource for people, and as rows for CSV and NDJSON. */

import { toJson } from "../../../../exports/formats/json.ts";
import type { Row } from "../../../../exports/formats/table.ts";
import type { Cell } from "../../../../schema/fields.ts";
import { formatSecond } from "../../../presentation/times.ts";
import { readableChange, readableText } from "../../../presentation/words.ts";
import type { FieldValue } from "../../../query/field-history.ts";
import type {
  FieldChange,
  Life,
  ResourceHistory,
  RevisionOfLife,
  Unchanged,
} from "../../../query/history.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { alignRows } from "../../terminal/table/text-table.ts";

const unchangedWords: Readonly<Record<Unchanged, string>> = {
  replaced: "replaced in the same run",
  same: "the same content as before",
  unread: "no field changed, only a link or something else beside the fields",
};

export function formatHistory({ kind, key, href, firstKnown, lives }: ResourceHistory): string {
  const url = key === href ? "" : `${escapeControls(href)}\n`;
  const head = `${kind}  ${escapeControls(key)}\n${url}Known since run ${firstKnown.run}, ${formatSecond(firstKnown.at)}\n`;
  return head + lives.map((life, n) => describeLife(kind, life, n === 0)).join("");
}

function describeLife(kind: string, { revisions, gone }: Life, isFirst: boolean): string {
  const texts = revisions.map((revision, n) => {
    const isEarliest = isFirst && n === 0;
    const event = n > 0 ? "changed" : isFirst ? (revision.pruned > 0 ? "read" : "first seen") : "back";
    const isNow = gone === null && n === revisions.length - 1;
    return describePruned(revision) + describeRevision(kind, revision, event, isEarliest, isNow);
  });
  return texts.join("") + (gone === null ? "" : `\nrun ${gone.run}  ${formatSecond(gone.at)}  gone\n`);
}

function describePruned({ revision, pruned }: RevisionOfLife): string {
  if (pruned === 0) return "";
  return pruned === 1
    ? `\nrevision ${revision - 1} is pruned\n`
    : `\nrevisions ${revision - pruned} to ${revision - 1} are pruned\n`;
}

function describeRevision(
  kind: string,
  { firstSeen, lastSeen, changes, unchanged }: RevisionOfLife,
  event: string,
  isEarliest: boolean,
  isNow: boolean,
): string {
  const until = isNow ? "checked in" : "until";
  const last = lastSeen === null ? "" : `, ${until} run ${lastSeen.run}, ${formatSecond(lastSeen.at)}`;
  const head = `\nrun ${firstSeen.run}  ${formatSecond(firstSeen.at)}  ${event}${last}\n`;
  if (unchanged !== null) return `${head}  ${unchangedWords[unchanged]}\n`;
  return head + (isEarliest ? describeFields(kind, changes) : describeChanges(kind, changes));
}

function describeFields(kind: string, changes: readonly FieldChange[]): string {
  return alignRows(
    changes.map(({ field, after }) => [field, shown(readableText(kind, field, after))]),
    "  ",
  );
}

export function describeChanges(kind: string, changes: readonly FieldChange[]): string {
  const [only] = changes;
  if (changes.length === 1 && only?.field === "last_modified_at")
    return `  only last_modified_at: ${shown(only.before)} → ${shown(only.after)}\n`;
  return alignRows(
    changes
      .map((change) => readableChange(kind, change))
      .map(({ field, before, after }) => [field, `${shown(before)} → ${shown(after)}`]),
    "  ",
  );
}

function shown(value: FieldValue): string {
  if (value === null) return "(none)";
  return escapeControls(typeof value === "object" ? toJson(value) : value);
}

export const historyColumns = [
  "kind",
  "key",
  "href",
  "revision",
  "run",
  "at",
  "change",
  "field",
  "before",
  "after",
];

/** One row per changed field. A revision without changed fields has one row, and so has each removal. */
export function rowsOfHistory({ kind, key, href, lives }: ResourceHistory): Row[] {
  return lives.flatMap((life, n) => rowsOfLife(life, n > 0)).map((row) => [kind, key, href, ...row]);
}

function rowsOfLife({ revisions, gone }: Life, isRevived: boolean): Row[] {
  const rows = revisions.flatMap((revision, n) =>
    rowsOfRevision(
      revision,
      n > 0 ? "changed" : isRevived ? "revived" : revision.pruned > 0 ? "read" : "added",
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
