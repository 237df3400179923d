/** What changed, as plain data. Values are exact: whole numbers are bigints, text is as it was sent, null is null. */
import type { Cell } from "../../schema/fields.ts";

/** A cell; or, for a field that is a list, its entries in order. */
export type Value = Cell | readonly Readonly<Record<string, Cell>>[];

/** A resource's fields as a mirror shows them, `href` first, and with them its lists under the service's names. */
export type Row = Readonly<Record<string, Value>>;

export interface FieldChange {
  readonly field: string;
  readonly before: Value;
  readonly after: Value;
}

interface About {
  /** The table that its row is in: `brand`, `model`, … */
  readonly kind: string;
  readonly href: string;
  /** What a person calls it, of what the row tells. */
  readonly name: Value;
}

/** Not known before. Its row has a `gone_at` where it came and went. */
export interface Added extends About {
  readonly change: "added";
  readonly row: Row;
}

/** Gone. `row` has its last values; `fields` is what else changed, and is of no tombstone where it is not even known any more. */
export interface Removed extends About {
  readonly change: "removed";
  /** Whether a tombstone is left, so that `row` is what is there now. */
  readonly isTombstone: boolean;
  readonly row: Row;
  readonly fields: readonly FieldChange[];
}

/** A tombstone that lives again; `fields` is what else changed. */
export interface Revived extends About {
  readonly change: "revived";
  /** Since when it was gone. */
  readonly goneAt: Cell;
  readonly row: Row;
  readonly fields: readonly FieldChange[];
}

/**
 * Other values. `touched` where the service says of it that it changed (`last_modified_at`), and nothing else did; what one
 * of the two states has only in part is never said to be.
 */
export interface Changed extends About {
  readonly change: "changed" | "touched";
  readonly fields: readonly FieldChange[];
}

/** Which of the two words these fields make it. A kind of which one state has only a part may have changed in the rest. */
export function changedOrTouched(
  fields: readonly FieldChange[],
  { isWhole }: { readonly isWhole: boolean },
): Changed["change"] {
  const isTouched = isWhole && fields.every(({ field }) => field === "last_modified_at");
  return isTouched ? "touched" : "changed";
}

/** What was observed: two states differ. */
export type Change = Added | Removed | Revived | Changed;

/** What the service reports: it says that this changed at `lastModifiedAt`, whatever was seen of it before. */
export interface Reported extends About {
  readonly change: "reported";
  /** As sent. */
  readonly lastModifiedAt: string;
  readonly row: Row;
}

export const changeWords = ["added", "removed", "changed", "revived", "touched"] as const;

/** How many of each, by kind; kinds without any are left out. */
export type Totals = Record<string, Partial<Record<(Change | Reported)["change"], number>>>;

export function count(totals: Totals, { kind, change }: Change | Reported): void {
  totals[kind] ??= {};
  totals[kind][change] = (totals[kind][change] ?? 0) + 1;
}
