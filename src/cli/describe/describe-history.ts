/** A resource's life in words: a block a life, in it one a revision, in that a line a field. */
import type { FieldValue } from "../../query/field-history.ts";
import type { FieldChange, Life, ResourceHistory, RevisionOfLife, Unchanged } from "../../query/history.ts";
import { toShown } from "../terminal/text-table.ts";
import { toJson } from "../terminal/to-json.ts";

const unchangedWords: Readonly<Record<Unchanged, string>> = {
  replaced: "replaced in the same run",
  same: "as it was before",
  unread: "nothing in its fields: a link, or a field that this version does not know",
};

export function describeHistory({ kind, href, firstKnown, lives }: ResourceHistory): string {
  const head = `${kind}  ${toShown(href)}\nKnown since run ${firstKnown.run}, ${firstKnown.at}\n`;
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
  return toShown(typeof value === "object" ? toJson(value) : value);
}
