/**
 * Diffs: what of one state is different in another. In: two states. Out: changes, ordered by kind and `href`, one at a
 * time: both are read once, side by side, so that memory stays small however large they are.
 */
import { type Change, changedOrTouched, type FieldChange, type Value } from "./change.ts";
import { type Choice, chooseFields, everything, isOfBrand, isOfKind } from "./choice.ts";
import { type ComparedKind, compareKinds } from "./compared-kinds.ts";
import { type Pairing, pairsOf } from "./pairs.ts";
import { type Item, type State, toRow } from "./state.ts";
import { isSameValue } from "./values.ts";

/**
 * What was observed to change from one state to the other.
 * @param choice which of it to give; all unless told
 * @param pairing how to read the two, where there is a faster way than to read both
 * @throws ChangeError `not-comparable`, and what reading the states throws
 */
export function* diff(
  a: State,
  b: State,
  choice: Choice = everything,
  pairing: Pairing = (kind) => pairsOf(a, b, kind),
): Generator<Change> {
  const isTyped = a.isTyped && b.isTyped;
  const needed = choice.brandHrefs.length > 0 ? [...names, "brand_href"] : names;
  for (const kind of compareKinds(a, b).kinds) {
    if (!isOfKind(choice, kind)) continue;
    for (const [before, after] of pairing(kind, needed)) {
      if (![before, after].some((item) => item && isOfBrand(choice, kind, item))) continue;
      const change = compare(kind, before, after, isTyped);
      const chosen = change && chooseFields(choice, kind, change);
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
