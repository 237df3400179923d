/** The first changes between two states of a mirror, and how many there are. */
import { type Change, count, type Totals } from "../../change/change.ts";
import type { FilterInput } from "../../change/filter.ts";
import type { Keyed } from "../../change/keys.ts";
import { type FromRun, type OpenDiff, openRunDiff } from "../../change/open-diff.ts";
import type { DiffSource } from "../../change/sources.ts";
import type { MirrorReader } from "../../mirror/reader.ts";

export interface ChangesBetween {
  readonly from: DiffSource | null;
  readonly to: DiffSource;
  readonly coverage: OpenDiff<unknown>["coverage"];
  readonly first: readonly Keyed<Change>[];
  /** Of all changes; null if there are too many to count. */
  readonly totals: Totals | null;
}

export interface ComparedRuns {
  readonly from: FromRun;
  /** The number of a run. */
  readonly to: number;
  readonly filter: FilterInput;
  /** Whether nothing is before it: then all is new, and only those that are shown are read. */
  readonly isFirst: boolean;
}

/** So that a page has at most 60 kB. */
const maxShown = 50;
/** Counting more of them would take long. */
const maxCounted = 1000;

/** @throws ChangeError, PointError */
export function readChangesBetween(
  { file }: MirrorReader,
  { from: fromRun, to: toRun, filter, isFirst }: ComparedRuns,
): ChangesBetween {
  const opened = openRunDiff({ file, point: { kind: "run", run: toRun } }, fromRun, filter);
  try {
    const { from, to, coverage } = opened;
    return { from, to, coverage, ...readFirst(opened.changes, isFirst) };
  } finally {
    opened.close();
  }
}

function readFirst(
  changes: Iterable<Keyed<Change>>,
  isFirst: boolean,
): Pick<ChangesBetween, "first" | "totals"> {
  const first: Keyed<Change>[] = [];
  const totals: Totals = {};
  let counted = 0;
  for (const change of changes) {
    counted++;
    if (counted > (isFirst ? maxShown : maxCounted)) return { first, totals: null };
    if (counted <= maxShown) first.push(change);
    count(totals, change);
  }
  return { first, totals };
}
