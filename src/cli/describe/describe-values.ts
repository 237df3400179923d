/** What a field was and is, in words: one line, or of a list a line for each entry that came or went. */
import type { FieldChange, Value } from "../../change/change.ts";
import { isList } from "../../change/values.ts";
import { cutTo, toShown, widthOf } from "../terminal/text-table.ts";
import { toJson } from "../terminal/to-json.ts";

/** @param columns what a line may take, entries of lists aside; null where nothing is to be cut */
export function describeField({ field, before, after }: FieldChange, columns: number | null): string[] {
  if (isList(before) || isList(after)) return [field, ...describeEntries(before, after)];
  const [one, other] = [shown(before), shown(after)];
  const room = columns === null ? null : Math.floor((columns - field.length - 5) / 2);
  const [was, is] = room === null ? [one, other] : cutBoth(one, other, room);
  return [`${field}  ${was} → ${is}`];
}

/** Whole, however long: where two entries differ may be anywhere in them. */
function describeEntries(before: Value, after: Value): string[] {
  const [were, are] = [before, after].map((value) =>
    isList(value) ? value.map((entry) => toJson(entry)) : [],
  );
  const removed = without(were ?? [], are ?? []).map((entry) => `  - ${toShown(entry)}`);
  const added = without(are ?? [], were ?? []).map((entry) => `  + ${toShown(entry)}`);
  const lines = [...removed, ...added];
  return lines.length > 0 ? lines : ["  the same in another order"];
}

/** Each entry as often as it is not among the others. */
function without(entries: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return entries.filter((entry) => {
    const at = left.indexOf(entry);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function shown(value: Value): string {
  return value === null ? "null" : toShown(value);
}

const context = 8;

/** Cuts two values so that where they begin to differ can be seen. */
function cutBoth(one: string, other: string, room: number): readonly [string, string] {
  if (widthOf(one) + widthOf(other) <= 2 * room) return [one, other];
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const from = Math.max(0, same - context);
  const cut = (text: string) => cutTo(from === 0 ? text : `…${text.slice(from)}`, room);
  return [cut(one), cut(other)];
}
