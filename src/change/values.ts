import { numberText } from "../../exports/number-text.ts";
import type { Cell } from "../../schema/fields.ts";
import type { Value } from "./change.ts";

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
