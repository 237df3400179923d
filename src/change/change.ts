/** Changes as plain data. Values are exact: whole numbers are bigints, text is as sent, null is null. */
import type { Cell } from "../../schema/fields.ts";

/** A cell; or, for a field that is a list, its entries in order. */
export type Value = Cell | readonly Readonly<Record<string, Cell>>[];

/** A resource's fields as a mirror shows them, `href` first; its lists have the service's names. */
export type Row = Readonly<Record<string, Value>>;

export interface FieldChange {
  readonly field: string;
  readonly before: Value;
  readonly after: Value;
}

interface ResourceChange {
  /** The table of its row: `brand`, `model`, … */
  readonly kind: string;
  readonly href: string;
  /** For people: the first naming field that has a value. */
  readonly name: Value;
}

/** Unknown in the earlier state. The row has a `gone_at` if the resource came and went in between. */
export interface Added extends ResourceChange {
  readonly change: "added";
  readonly row: Row;
}

/** Gone. `row` has its last values; `fields` are its other changes, empty if the later state does not know the resource. */
export interface Removed extends ResourceChange {
  readonly change: "removed";
  /** Whether the later state holds a tombstone; `row` is then the tombstone's. */
  readonly isTombstone: boolean;
  readonly row: Row;
  readonly fields: readonly FieldChange[];
}

/** A tombstone in the earlier state, present in the later one; `fields` are its other changes. */
export interface Revived extends ResourceChange {
  readonly change: "revived";
  /** The `gone_at` of the tombstone. */
  readonly goneAt: Cell;
  readonly row: Row;
  readonly fields: readonly FieldChange[];
}

/**
 * Other values. `touched` if `last_modified_at` is the only difference: the service reports a change that no field shows.
 * Never `touched` if one of the states holds only some fields of the kind.
 */
export interface Changed extends ResourceChange {
  readonly change: "changed" | "touched";
  readonly fields: readonly FieldChange[];
}

/** @param kind `isWhole` if both states hold all fields of the kind */
export function changedOrTouched(
  fields: readonly FieldChange[],
  { isWhole }: { readonly isWhole: boolean },
): Changed["change"] {
  const isTouched = isWhole && fields.every(({ field }) => field === "last_modified_at");
  return isTouched ? "touched" : "changed";
}

/** An observed change: two states differ. */
export type Change = Added | Removed | Revived | Changed;

/** A change that the service reports by `last_modified_at`, whatever the mirror observed. */
export interface Reported extends ResourceChange {
  readonly change: "reported";
  /** As sent. */
  readonly lastModifiedAt: string;
  readonly row: Row;
}

export const changeWords = ["added", "removed", "changed", "revived", "touched"] as const;
export type ChangeWord = (typeof changeWords)[number];

/** The number of changes by kind and word; kinds without changes have no entry. */
export type Totals = Record<string, Partial<Record<(Change | Reported)["change"], number>>>;

export function count(totals: Totals, { kind, change }: Change | Reported): void {
  totals[kind] ??= {};
  totals[kind][change] = (totals[kind][change] ?? 0) + 1;
}
