/** Describes an entry of the change log in words: a title and lines of plain text. */
import { numberText } from "../../../exports/formats/json.ts";
import { formatCount } from "../../presentation/numbers.ts";
import { readableChange } from "../../presentation/words.ts";
import { type Change, changeWords, count, type FieldChange, type Totals, type Value } from "../change.ts";
import { isList, listDifference } from "../diff.ts";
import type { ChangeEntry } from "./change-log.ts";

/** Such as `Comexim › Lupine: bra_count 12 → 14, 2 sizes added`. */
export function titleOf({ run, subject, totals, changes }: ChangeEntry): string {
  if (subject === null) return `Run ${run}: ${describeTotals(totals)}`;
  const own = changes.find(({ href }) => href === subject.href);
  const parts = changes.filter((change) => change !== own);
  const summary = [...(own ? [describeOwn(own)] : []), ...(parts.length > 0 ? [countParts(parts)] : [])];
  return `${subject.label}: ${summary.join(", ")}`;
}

/** What the title leaves out: changed fields, and the names of parts. */
export function linesOf({ subject, changes }: ChangeEntry): string[] {
  const own = changes.find(({ href }) => href === subject?.href);
  const ownFields = own === undefined ? [] : shownFields(own);
  const lines = own?.change === "changed" && ownFields.length === 1 ? [] : ownFields.map(describeField);
  const named = new Map<string, string[]>();
  for (const change of changes) {
    if (change === own) continue;
    const name = textOf(change.name ?? change.href);
    const fields = shownFields(change).map(describeField).join(", ");
    if (change.change === "changed") lines.push(`${change.kind} ${name}: ${fields}`);
    else {
      const heading = `${change.kind}s ${change.change}`;
      named.set(heading, [...(named.get(heading) ?? []), name]);
    }
  }
  return [...lines, ...[...named].map(([heading, names]) => `${heading}: ${names.join(", ")}`)];
}

/** `last_modified_at` changes with every other field. */
const shownFields = (change: Change): FieldChange[] =>
  change.change === "added"
    ? []
    : change.fields
        .filter(({ field }) => field !== "last_modified_at")
        .map((field) => readableChange(change.kind, field));

/** Such as `3 models added, 1 size changed`. */
export function describeTotals(totals: Totals): string {
  const parts = Object.entries(totals).flatMap(([kind, counts]) =>
    changeWords.flatMap((word) => {
      const count = counts[word];
      return count === undefined ? [] : [`${formatCount(count, kind)} ${word}`];
    }),
  );
  return parts.join(", ");
}

const maxNamedFields = 3;

function describeOwn(change: Change): string {
  if (change.change !== "changed") return change.change;
  const fields = shownFields(change);
  const [only] = fields;
  if (only !== undefined && fields.length === 1) return describeField(only);
  const names = fields.map(({ field }) => field);
  return `${names.length <= maxNamedFields ? names.join(", ") : `${names.length} fields`} changed`;
}

function countParts(parts: readonly Change[]): string {
  const totals: Totals = {};
  for (const part of parts) count(totals, part);
  return describeTotals(totals);
}

function describeField({ field, before, after }: FieldChange): string {
  if (!isList(before) && !isList(after)) return `${field} ${textOf(before)} → ${textOf(after)}`;
  const { removed, added } = listDifference(before, after);
  const parts = [
    ...(added.length > 0 ? [`${added.length} added`] : []),
    ...(removed.length > 0 ? [`${removed.length} removed`] : []),
  ];
  return `${field}: ${parts.join(", ") || "another order"}`;
}

const maxTextLength = 200;

function textOf(value: Value): string {
  const text = typeof value === "number" || typeof value === "bigint" ? numberText(value) : String(value);
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength - 1)}…`;
}
