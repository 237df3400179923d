/** Applies a diff to a state, and compares states and changes as plain values. */
import type { Change, Row } from "../../../src/change/change.ts";
import { compareKinds } from "../../../src/change/compared-kinds.ts";
import type { ComparedState } from "../../../src/change/diff.ts";
import { itemsOf, toRow } from "../../../src/change/items.ts";

/** Row by `kind href`. */
export type Rows = ReadonlyMap<string, Row>;

export function rowsOfState(state: Pick<ComparedState, "tables">): Rows {
  const { kinds } = compareKinds(state.tables, state.tables);
  return new Map(
    kinds.flatMap((kind) =>
      [...itemsOf(state.tables, kind)].map(
        (item) => [`${kind.name} ${item.href}`, toRow(kind, item)] as const,
      ),
    ),
  );
}

/** @throws if a change does not fit the state */
export function apply(rows: Rows, changes: Iterable<Change>): Rows {
  const applied = new Map(rows);
  for (const change of changes) {
    const key = `${change.kind} ${change.href}`;
    const row = rows.get(key);
    if ((row === undefined) !== (change.change === "added"))
      throw new Error(`${key} cannot be ${change.change}`);
    if (change.change === "added" || change.change === "revived") applied.set(key, change.row);
    else if (change.change === "removed") {
      if (change.isTombstone) applied.set(key, change.row);
      else applied.delete(key);
    } else {
      const after = change.fields.map(({ field, after }) => [field, after]);
      applied.set(key, { ...row, ...Object.fromEntries(after) });
    }
    if (!("fields" in change)) continue;
    for (const { field, before, after } of change.fields) {
      const isReal = textOf(before) === textOf(row?.[field]) && textOf(before) !== textOf(after);
      if (!isReal) throw new Error(`${key} had another ${field}`);
    }
  }
  return applied;
}

/** Text that is equal if and only if the values are. */
export function textOf(value: unknown): string {
  const plain = value instanceof Map ? [...value].sort(([a], [b]) => (a < b ? -1 : 1)) : value;
  return (
    JSON.stringify(plain, (_key, part) => {
      if (typeof part === "bigint") return { whole: String(part) };
      return Object.is(part, -0) ? { whole: "-0" } : part;
    }) ?? "undefined"
  );
}
