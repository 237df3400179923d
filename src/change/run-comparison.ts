/**
 * Two runs of one mirror, compared on one connection. In: a mirror in a read transaction, and the runs. Out: pairs of items
 * that may differ; everything else is not even read.
 */
import { entityTables } from "../../schema/entities/entity-tables.ts";
import type { Cell } from "../../schema/fields.ts";
import type { Connection } from "../mirror/file/connection.ts";
import { createAsOfViews } from "../mirror/past/as-of.ts";
import { collectChangedIds, lastChangedRun } from "../mirror/past/changed-since.ts";
import { listRowsAt, pairedRows, type TwoRuns } from "../mirror/past/paired-rows.ts";
import { type EndedRun, readEndedRun, runBefore } from "../mirror/points/resolve-point.ts";
import { publicTables } from "../mirror/public-tables.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { typedTables } from "../mirror/rows/versioned-rows.ts";
import type { Value } from "./change.ts";
import { type ComparedKind, compareKinds } from "./compared-kinds.ts";
import { type Comparison, diff } from "./diff.ts";
import { openLists, type Pair, pairsOf, type StateTable, toComparable } from "./items.ts";

/** Compares two runs; one comparison at a time on a connection. Run 0 is the empty mirror before the first run. */
export function compareRuns(mirror: MirrorReader, runs: TwoRuns): Comparison {
  const { db } = mirror;
  if (runs.before === 0) return compareWithNothing(mirror, runs.after);
  // A mirror has the same tables at all runs.
  const tables = publicTables(mirror);
  collectChangedIds(db, runs.before, runs.after);
  return {
    ...compareKinds(tables, tables),
    isTyped: true,
    pairs: (kind, needed) => pairsBetween(db, kind, needed, runs),
  };
}

/** Everything is new, so rows are read in order, and the first ones at once, however many there are. */
function compareWithNothing(mirror: MirrorReader, run: number): Comparison {
  createAsOfViews(mirror.db, run);
  const tables = publicTables(mirror);
  return { ...compareKinds(tables, tables), isTyped: true, pairs: (kind) => pairsOf([], tables, kind) };
}

/**
 * The last run before the newest one, up to `run`, that changed a public table. If that was the first run, the first run
 * itself: nothing has changed since. Null if `run` is the first.
 * @throws MirrorError
 */
export function runBeforeLastChange(mirror: MirrorReader, run: number): EndedRun | null {
  const { db } = mirror;
  for (let last = lastChangedRun(db, run); last !== null; ) {
    const before = runBefore(db, last);
    if (before === null) return last < run ? readEndedRun(db, last) : null;
    if (isDifferent(mirror, { before: before.run, after: last })) return before;
    last = lastChangedRun(db, before.run);
  }
  return runBefore(db, run);
}

function isDifferent(mirror: MirrorReader, runs: TwoRuns): boolean {
  const { db } = mirror;
  // Undoes the temporary tables of the comparison, so that the next one can make its own.
  db.exec("savepoint candidate");
  try {
    // Leaving the loop closes the statements of the diff.
    for (const _change of diff(compareRuns(mirror, runs))) return true;
    return false;
  } finally {
    db.exec("rollback to candidate; release candidate");
  }
}

function* pairsBetween(
  db: Connection,
  kind: ComparedKind,
  needed: readonly string[],
  runs: TwoRuns,
): Generator<Pair> {
  const tablesBefore = listTablesAt(db, kind, runs.before);
  const tablesAfter = listTablesAt(db, kind, runs.after);
  const entity = entityTables.find(({ table }) => table === kind.name);
  if (kind.columns === null || entity === undefined) return yield* pairsOf(tablesBefore, tablesAfter, kind);
  const listsBefore = openLists(tablesBefore, kind);
  try {
    const listsAfter = openLists(tablesAfter, kind);
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

/** The tables of the kind's lists, with only the rows that may differ. */
function listTablesAt(db: Connection, { lists }: ComparedKind, run: number): StateTable[] {
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
