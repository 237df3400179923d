/** Two sorted sequences of items as one, in which what has the same URL comes together. */

import { entities } from "../../schema/entities.ts";
import type { Cell } from "../../schema/fields.ts";
import type { Connection } from "../mirror/file/connection.ts";
import { collectChangedIds } from "../mirror/past/changed-since.ts";
import { listRowsAt, pairedRows, type TwoRuns } from "../mirror/past/paired-rows.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { typedTables } from "../mirror/rows/versioned-rows.ts";
import type { Value } from "./change.ts";
import type { ComparedKind } from "./compared-kinds.ts";
import {
  compareText,
  type DiffSource,
  type Item,
  itemsOf,
  type MirrorLocation,
  openLists,
  type StateTable,
  toComparable,
  withReader,
} from "./sources.ts";

/** Never null on both sides. */
export type Pair = readonly [before: Item | null, after: Item | null];

/**
 * The items of a kind in two states, in order. What is the same in both may be left out: the item, or the value on both
 * sides.
 * @param needed fields whose values are given also where they are the same
 */
export type Pairing = (kind: ComparedKind, needed: readonly string[]) => Iterable<Pair>;

type Tables = Pick<DiffSource, "tables">;

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

/** The states of two runs of one mirror, side by side: what is the same in both is not even read. */

export interface RunPairs {
  readonly pairing: Pairing;
  close(): void;
}

/**
 * @param a, b of one file
 * @throws MirrorError
 */
export function openRunPairs(a: MirrorLocation, b: MirrorLocation): RunPairs {
  return withReader(a.mirror, ({ db, close }) => {
    db.exec("begin");
    collectChangedIds(db, a.run, b.run);
    const runs: TwoRuns = { before: a.run, after: b.run };
    const pairing: Pairing = (kind, needed) => pairsBetween(db, kind, needed, runs);
    return { pairing, close };
  });
}

function* pairsBetween(
  db: Connection,
  kind: ComparedKind,
  needed: readonly string[],
  runs: TwoRuns,
): Generator<Pair> {
  const one = { tables: listsThen(db, kind, runs.before) };
  const other = { tables: listsThen(db, kind, runs.after) };
  const entity = entities.find(({ table }) => table === kind.name);
  if (kind.columns === null || entity === undefined) return yield* pairsOf(one, other, kind);
  const listsBefore = openLists(one, kind);
  try {
    const listsAfter = openLists(other, kind);
    try {
      for (const row of pairedRows(db, entity, kind.columns, needed, runs)) {
        const [href, wasThere, isThere, goneBefore, goneAfter] = row as [string, bigint, bigint, Cell, Cell];
        const before: Value[] = [];
        const after: Value[] = [];
        for (let at = 5; at < row.length; at += 2) {
          before.push(toComparable(fromStored(row[at])));
          after.push(toComparable(fromStored(row[at + 1])));
        }
        before.push(...listsBefore.take(href));
        after.push(...listsAfter.take(href));
        yield [
          wasThere ? { href, goneAt: goneBefore, values: before } : null,
          isThere ? { href, goneAt: goneAfter, values: after } : null,
        ];
      }
    } finally {
      listsAfter.close();
    }
  } finally {
    listsBefore.close();
  }
}

/** The tables of the kind's lists, with the rows of what may differ. */
function listsThen(db: Connection, { lists }: ComparedKind, run: number): StateTable[] {
  return typedTables
    .flat()
    .filter(({ name }) => lists.some(({ table }) => name === `_${table}`))
    .map((table) => ({
      name: table.name.slice(1),
      columns: ["href", "n", ...table.columns],
      *rows() {
        for (const row of listRowsAt(db, table, run)) {
          for (const [n, stored] of row.entries()) row[n] = fromStored(stored);
          yield row as Cell[];
        }
      },
    }));
}
