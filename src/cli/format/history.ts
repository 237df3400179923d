/** A resource's life in words: a block a life, in it one a revision, in that a line a field. */

import type { Row } from "../../../exports/table.ts";
import type { Cell } from "../../../schema/fields.ts";
import type { FieldValue } from "../../query/field-history.ts";
import type { FieldChange, Life, ResourceHistory, RevisionOfLife, Unchanged } from "../../query/history.ts";
import { toJson } from "../terminal/format.ts";
import { escapeControls } from "../terminal/text-table.ts";

const unchangedWords: Readonly<Record<Unchanged, string>> = {
  replaced: "replaced in the same run",
  same: "as it was before",
  unread: "nothing in its fields: a link, or a field that this version does not know",
};

export function formatHistory({ kind, href, firstKnown, lives }: ResourceHistory): string {
  const head = `${kind}  ${escapeControls(href)}\nKnown since run ${firstKnown.run}, ${firstKnown.at}\n`;
  return head + lives.map((life, n) => describeLife(life, n === 0)).join("");
}

function describeLife({ revisions, gone }: Life, isFirst: boolean): string {
  const told = revisions.map((revision, n) => {
    const isEarliest = isFirst && n === 0;
    const what = n > 0 ? "changed" : isFirst ? (revision.forgotten > 0 ? "read" : "first seen") : "back";
    const isNow = gone === null && n === revisions.length - 1;
    return describeForgotten(revision) + describeRevision(revision, what, isEarliest, isNow);
  });
  return told.join("") + (gone === null ? "" : `\nrun ${gone.run}  ${gone.at}  gone\n`);
}

function describeForgotten({ revision, forgotten }: RevisionOfLife): string {
  if (forgotten === 0) return "";
  return forgotten === 1
    ? `\nrevision ${revision - 1} is forgotten\n`
    : `\nrevisions ${revision - forgotten} to ${revision - 1} are forgotten\n`;
}

function describeRevision(
  { firstSeen, lastSeen, changes, unchanged }: RevisionOfLife,
  what: string,
  isEarliest: boolean,
  isNow: boolean,
): string {
  const seen = isNow ? "checked last" : "seen last";
  const until = lastSeen === null ? "" : `, ${seen} in run ${lastSeen.run}, ${lastSeen.at}`;
  const head = `\nrun ${firstSeen.run}  ${firstSeen.at}  ${what}${until}\n`;
  if (unchanged !== null) return `${head}  ${unchangedWords[unchanged]}\n`;
  return head + (isEarliest ? describeFields(changes) : describeChanges(changes));
}

function describeFields(changes: readonly FieldChange[]): string {
  return describeLines(changes.map(({ field, after }) => [field, shown(after)]));
}

function describeChanges(changes: readonly FieldChange[]): string {
  const [only] = changes;
  if (changes.length === 1 && only?.field === "last_modified_at")
    return `  nothing but last_modified_at: ${shown(only.before)} → ${shown(only.after)}\n`;
  return describeLines(
    changes.map(({ field, before, after }) => [field, `${shown(before)} → ${shown(after)}`]),
  );
}

function describeLines(lines: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join("");
}

function shown(value: FieldValue): string {
  if (value === null) return "(none)";
  return escapeControls(typeof value === "object" ? toJson(value) : value);
}

/** A resource's life as rows for CSV and NDJSON: one for each field that changed, in the words of a diff. */

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
