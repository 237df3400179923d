/**
 * Diffs: what of one state is different in another. In: two states. Out: changes, ordered by kind and `href`, one at a
 * time: both are read once, side by side, so that memory stays small however large they are.
 */

import { numberText } from "../../exports/json.ts";
import type { Cell } from "../../schema/fields.ts";
import { toSortable } from "../mirror/points/service-time.ts";
import { type Change, changedOrTouched, type FieldChange, type Reported, type Value } from "./change.ts";
import { type ComparedKind, compareKinds } from "./compared-kinds.ts";
import { type ChangeFilter, filterFields, isOfBrand, isOfKind, noFilter } from "./filter.ts";
import { type Pairing, pairsOf } from "./merge-join.ts";
import { type DiffSource, type Item, itemsOf, toRow } from "./sources.ts";

/**
 * What was observed to change from one state to the other.
 * @param choice which of it to give; all unless told
 * @param pairing how to read the two, where there is a faster way than to read both
 * @throws ChangeError `not-comparable`, and what reading the states throws
 */
export function* diff(
  a: DiffSource,
  b: DiffSource,
  choice: ChangeFilter = noFilter,
  pairing: Pairing = (kind) => pairsOf(a, b, kind),
): Generator<Change> {
  const isTyped = a.isTyped && b.isTyped;
  const needed = choice.brandHrefs.length > 0 ? [...names, "brand_href"] : names;
  for (const kind of compareKinds(a, b).kinds) {
    if (!isOfKind(choice, kind)) continue;
    for (const [before, after] of pairing(kind, needed)) {
      if (![before, after].some((item) => item && isOfBrand(choice, kind, item))) continue;
      const change = compare(kind, before, after, isTyped);
      const chosen = change && filterFields(choice, kind, change);
      if (chosen) yield chosen;
    }
  }
}

function compare(
  kind: ComparedKind,
  before: Item | null,
  after: Item | null,
  isTyped: boolean,
): Change | null {
  const last = after ?? before;
  if (last === null) return null;
  const about = { kind: kind.name, href: last.href, name: nameOf(kind, last) };
  if (before === null) return { ...about, change: "added", row: toRow(kind, last) };
  const isTombstone = after !== null;
  if (after === null) return { ...about, change: "removed", isTombstone, row: toRow(kind, last), fields: [] };
  const fields: FieldChange[] = [];
  for (const [n, field] of kind.fields.entries()) {
    const was = before.values[n] ?? null;
    const is = after.values[n] ?? null;
    if (was !== is && !isSameValue(was, is, isTyped)) fields.push({ field, before: was, after: is });
  }
  const wasGone = before.goneAt !== null;
  const isGone = after.goneAt !== null;
  if (!wasGone && isGone) return { ...about, change: "removed", isTombstone, row: toRow(kind, last), fields };
  if (wasGone && !isGone)
    return { ...about, change: "revived", goneAt: before.goneAt, row: toRow(kind, last), fields };
  // Revived and gone again in between.
  if (before.goneAt !== after.goneAt)
    fields.push({ field: "gone_at", before: before.goneAt, after: after.goneAt });
  if (fields.length === 0) return null;
  return { ...about, change: changedOrTouched(fields, kind), fields };
}

const names = ["full_name", "name", "size", "username"];

export function nameOf({ fields }: ComparedKind, { values }: Item): Value {
  for (const name of names) {
    const value = values[fields.indexOf(name)] ?? null;
    if (value !== null) return value;
  }
  return null;
}

/** What the service reports: which resources, by their own `last_modified_at`, changed at some time or later. */

/**
 * In the order of `diff`, tombstones included; what has no such field is never reported.
 * @param since as `readServiceTime` gives it
 */
export function* reportedSince(
  state: DiffSource,
  since: string,
  choice: ChangeFilter = noFilter,
): Generator<Reported> {
  for (const kind of compareKinds(state, state).kinds) {
    const at = kind.fields.indexOf("last_modified_at");
    if (at < 0 || !isOfKind(choice, kind)) continue;
    for (const item of itemsOf(state, kind)) {
      const lastModifiedAt = item.values[at];
      const time = toSortable(lastModifiedAt);
      if (time === null || time < since || !isOfBrand(choice, kind, item)) continue;
      yield {
        kind: kind.name,
        href: item.href,
        name: nameOf(kind, item),
        change: "reported",
        lastModifiedAt: String(lastModifiedAt),
        row: toRow(kind, item),
      };
    }
  }
}

/** @param isTyped whether a number and the text of its digits are two things */
export function isSameValue(one: Value, other: Value, isTyped: boolean): boolean {
  if (isList(one) && isList(other)) {
    return (
      one.length === other.length && one.every((entry, n) => isSameEntry(entry, other[n] ?? {}, isTyped))
    );
  }
  if (isList(one) || isList(other)) return false;
  if (Object.is(one, other)) return true;
  return !isTyped && one !== null && other !== null && textOf(one) === textOf(other);
}

export function isList(value: Value): value is Extract<Value, readonly unknown[]> {
  return Array.isArray(value);
}

function isSameEntry(
  one: Readonly<Record<string, Cell>>,
  other: Readonly<Record<string, Cell>>,
  isTyped: boolean,
): boolean {
  return Object.keys(one).every((key) => isSameValue(one[key] ?? null, other[key] ?? null, isTyped));
}

function textOf(cell: Cell): string {
  return typeof cell === "string" || cell === null ? String(cell) : numberText(cell);
}
