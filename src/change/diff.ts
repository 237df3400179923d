/**
 * Diffs. In: two states as pairs of items. Out: changes, ordered by kind and `href`, one at a time: memory stays small
 * however large the states are.
 */
import { numberText, toJson } from "../../exports/formats/json.ts";
import type { Cell } from "../../schema/fields.ts";
import { toSortable } from "../mirror/points/service-time.ts";
import { type Change, changedOrTouched, type FieldChange, type Reported, type Value } from "./change.ts";
import { type ComparedKind, type ComparedKinds, compareKinds } from "./compared-kinds.ts";
import { type ChangeFilter, fieldsOfChoice, filterChange, isOfChosen, isOfKind, noFilter } from "./filter.ts";
import { type Item, itemsOf, type Pairing, pairsOf, type StateTable, toRow } from "./items.ts";

/** Two states, ready to be compared. */
export interface Comparison extends ComparedKinds {
  /** Whether a number and the text of its digits differ. */
  readonly isTyped: boolean;
  readonly pairs: Pairing;
}

/** The part of a source that a diff reads. */
export interface ComparedState {
  readonly isTyped: boolean;
  readonly tables: readonly StateTable[];
}

/** @throws ChangeError `not-comparable` */
export function compareStates(a: ComparedState, b: ComparedState): Comparison {
  return {
    ...compareKinds(a.tables, b.tables),
    isTyped: a.isTyped && b.isTyped,
    pairs: (kind) => pairsOf(a.tables, b.tables, kind),
  };
}

/** The observed changes from the first state to the second. @throws what reading the states throws */
export function* diff(
  { kinds, isTyped, pairs }: Comparison,
  filter: ChangeFilter = noFilter,
): Generator<Change> {
  const needed = [...nameFields, ...fieldsOfChoice(filter)];
  for (const kind of kinds) {
    if (!isOfKind(filter, kind)) continue;
    for (const [before, after] of pairs(kind, needed)) {
      if (![before, after].some((item) => item && isOfChosen(filter, kind, item))) continue;
      const change = compareItems(kind, before, after, isTyped);
      const filtered = change && filterChange(filter, kind, change);
      if (filtered) yield filtered;
    }
  }
}

function compareItems(
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

const nameFields = ["full_name", "name", "size", "username"];

function nameOf({ fields }: ComparedKind, { values }: Item): Value {
  for (const name of nameFields) {
    const value = values[fields.indexOf(name)] ?? null;
    if (value !== null) return value;
  }
  return null;
}

/**
 * The resources that changed at `since` or later by their own `last_modified_at`, tombstones included, in the order of
 * `diff`. Resources without that time are counted instead.
 * @param since as `readServiceTime` returns it
 */
export function* reportedSince(
  tables: readonly StateTable[],
  kinds: readonly ComparedKind[],
  since: string,
  filter: ChangeFilter,
  withoutTime: { count: number },
): Generator<Reported> {
  for (const kind of kinds) {
    const index = kind.fields.indexOf("last_modified_at");
    if (index < 0 || !isOfKind(filter, kind)) continue;
    for (const item of itemsOf(tables, kind)) {
      const lastModifiedAt = item.values[index];
      const time = toSortable(lastModifiedAt);
      if ((time !== null && time < since) || !isOfChosen(filter, kind, item)) continue;
      if (time === null) {
        withoutTime.count++;
        continue;
      }
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

function isSameValue(a: Value, b: Value, isTyped: boolean): boolean {
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((entry, n) => isSameEntry(entry, b[n] ?? {}, isTyped));
  if (isList(a) || isList(b)) return false;
  if (Object.is(a, b)) return true;
  return !isTyped && a !== null && b !== null && textOf(a) === textOf(b);
}

export function isList(value: Value): value is Extract<Value, readonly unknown[]> {
  return Array.isArray(value);
}

/** The entries, as JSON, that only one of two lists has. A value that is no list is an empty one. */
export function listDifference(before: Value, after: Value): { removed: string[]; added: string[] } {
  const [earlier = [], later = []] = [before, after].map((value) =>
    isList(value) ? value.map((entry) => toJson(entry)) : [],
  );
  return { removed: without(earlier, later), added: without(later, earlier) };
}

/** Multiset difference: each other entry removes one equal entry. */
function without(entries: readonly string[], others: readonly string[]): string[] {
  const unmatched = [...others];
  return entries.filter((entry) => {
    const at = unmatched.indexOf(entry);
    if (at >= 0) unmatched.splice(at, 1);
    return at < 0;
  });
}

type Entry = Readonly<Record<string, Cell>>;

function isSameEntry(a: Entry, b: Entry, isTyped: boolean): boolean {
  return Object.keys(a).every((key) => isSameValue(a[key] ?? null, b[key] ?? null, isTyped));
}

function textOf(cell: Cell): string {
  return typeof cell === "string" || cell === null ? String(cell) : numberText(cell);
}
