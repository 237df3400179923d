/** Two sorted sequences of items as one, in which what has the same URL comes together. */
import type { ComparedKind } from "./compared-kinds.ts";
import { compareText, type Item, itemsOf, type State } from "./state.ts";

/** Never null on both sides. */
export type Pair = readonly [before: Item | null, after: Item | null];

/**
 * The items of a kind in two states, in order. What is the same in both may be left out: the item, or the value on both
 * sides.
 * @param needed fields whose values are given also where they are the same
 */
export type Pairing = (kind: ComparedKind, needed: readonly string[]) => Iterable<Pair>;

type Tables = Pick<State, "tables">;

export function* pairsOf(one: Tables, other: Tables, kind: ComparedKind): Generator<Pair> {
  const a: Iterator<Item> = itemsOf(one, kind);
  const b: Iterator<Item> = itemsOf(other, kind);
  try {
    let before = a.next();
    let after = b.next();
    while (!before.done || !after.done) {
      const order = before.done ? 1 : after.done ? -1 : compareText(before.value.href, after.value.href);
      yield [order <= 0 ? before.value : null, order >= 0 ? after.value : null];
      if (order <= 0) before = a.next();
      if (order >= 0) after = b.next();
    }
  } finally {
    a.return?.();
    b.return?.();
  }
}
